"""Optimisers of others that ask the functions of `panel.rs`, which starts this and answers on standard input.

usage: python panel.py <optuna-tpe | optuna-gp | optuna-cma | botorch | smac | scikit-learn | egobox | turbo>
optuna: TPESampler(multivariate=True, group=False), GPSampler and CmaEsSampler, otherwise with their defaults; CMA-ES draws what is categorical at random.
botorch: SingleTaskGP (MixedSingleTaskGP where there are choices) and LogExpectedImprovement after max(5, 2 d) Sobol points; 4 restarts of 128.
smac: HyperparameterOptimizationFacade with its defaults.
scikit-learn: GaussianProcessRegressor(Matern 5/2 for each factor + noise, no restarts) and expected improvement over 5,000 random points, the
    best three improved by L-BFGS-B, after max(5, 2 d) random points.
turbo: TuRBO-1 (Eriksson et al., NeurIPS 2019) as BoTorch's tutorial has it, a question at a time by Thompson sampling of min(5000, max(2000, 200 d))
    points in the trust region, after 2 d Sobol points; ranges alone.
egobox (Rust): Egor with its defaults after max(5, 2 d) points of its Latin hypercube; logarithms are given for what is logarithmic."""
import json, os, sys, time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import logging, math, warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
import numpy as np

OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
which = sys.argv[1]


def say(value):
    OUT.write(json.dumps(value) + "\n")
    OUT.flush()


def ask(x):
    """The loss at a setting."""
    say([float(v) for v in x])
    return float(sys.stdin.readline())


class Cube:
    """Settings as points of a unit cube, a coordinate for each choice."""

    def __init__(self, factors):
        self.factors = factors
        self.places = []
        at = 0
        for f in factors:
            n = f["n"] if f["kind"] == "choices" else 1
            self.places.append((at, n))
            at += n
        self.width = at

    def setting(self, point):
        x = []
        for f, (at, n) in zip(self.factors, self.places):
            u = point[at]
            if f["kind"] == "choices":
                x.append(int(np.argmax(point[at : at + n])))
            elif f["kind"] == "log":
                x.append(math.exp(math.log(f["min"]) + u * (math.log(f["max"]) - math.log(f["min"]))))
            elif f["kind"] == "whole":
                x.append(round(f["min"] + u * (f["max"] - f["min"])))
            else:
                x.append(f["min"] + u * (f["max"] - f["min"]))
        return x

    def draw(self, rng, many):
        points = rng.rand(many, self.width)
        for f, (at, n) in zip(self.factors, self.places):
            if f["kind"] == "choices":
                points[:, at : at + n] = np.eye(n)[rng.randint(n, size=many)]
            elif f["kind"] == "whole":
                steps = f["max"] - f["min"]
                points[:, at] = rng.randint(steps + 1, size=many) / steps
        return points


def by_optuna(factors, seed, questions):
    import optuna

    samplers = {
        "optuna-tpe": lambda: optuna.samplers.TPESampler(multivariate=True, seed=seed),
        "optuna-gp": lambda: optuna.samplers.GPSampler(seed=seed),
        "optuna-cma": lambda: optuna.samplers.CmaEsSampler(seed=seed),
    }
    study = optuna.create_study(direction="maximize", sampler=samplers[which]())

    def objective(trial):
        x = []
        for f in factors:
            name = f["name"]
            if f["kind"] == "choices":
                x.append(trial.suggest_categorical(name, list(range(f["n"]))))
            elif f["kind"] == "whole":
                x.append(trial.suggest_int(name, f["min"], f["max"]))
            else:
                x.append(trial.suggest_float(name, f["min"], f["max"], log=f["kind"] == "log"))
        return ask(x)

    study.optimize(objective, n_trials=questions)


def by_scikit_learn(factors, seed, questions):
    from scipy.optimize import minimize
    from scipy.stats import norm
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    cube, rng = Cube(factors), np.random.RandomState(seed)
    x = cube.draw(rng, max(5, 2 * len(factors)))
    y = np.array([ask(cube.setting(p)) for p in x])
    kernel = ConstantKernel() * Matern([0.5] * cube.width, (0.05, 20), nu=2.5) + WhiteKernel(1e-3, (1e-6, 1))
    free = [at for f, (at, _) in zip(factors, cube.places) if f["kind"] in ("range", "log")]
    while len(y) < questions:
        process = GaussianProcessRegressor(kernel, normalize_y=True).fit(x, y)
        kernel = process.kernel_

        def improvement(points):
            mean, deviation = process.predict(points, return_std=True)
            z = (mean - y.max()) / np.maximum(deviation, 1e-12)
            return (mean - y.max()) * norm.cdf(z) + deviation * norm.pdf(z)

        points = cube.draw(rng, 5000)
        worth = improvement(points)
        order = np.argsort(worth)[-3:]
        most, at = worth.max(), points[worth.argmax()]
        for start in points[order] if free else []:

            def negative(u):
                p = start.copy()
                p[free] = u
                return -improvement(p[None])[0]

            found = minimize(negative, start[free], bounds=[(0, 1)] * len(free), method="L-BFGS-B", options={"maxiter": 15})
            if -found.fun > most:
                most, at = -found.fun, start.copy()
                at[free] = found.x
        x, y = np.vstack([x, at]), np.append(y, ask(cube.setting(at)))


def by_botorch(factors, seed, questions):
    import torch
    from botorch.acquisition.analytic import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import MixedSingleTaskGP, SingleTaskGP
    from botorch.optim import optimize_acqf, optimize_acqf_mixed
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    d = len(factors)
    low = torch.tensor([0.0] * d, dtype=torch.double)
    high = torch.tensor([f["n"] - 1.0 if f["kind"] == "choices" else 1.0 for f in factors], dtype=torch.double)
    listed = [i for i, f in enumerate(factors) if f["kind"] == "choices"]

    def whole(point):
        point = point.clone()
        for i, f in enumerate(factors):
            if f["kind"] == "choices":
                point[i] = point[i].round()
            elif f["kind"] == "whole":
                steps = f["max"] - f["min"]
                point[i] = (point[i] * steps).round() / steps
        return point

    def setting(point):
        x = []
        for f, u in zip(factors, point.tolist()):
            if f["kind"] == "choices":
                x.append(int(u))
            elif f["kind"] == "log":
                x.append(math.exp(math.log(f["min"]) + u * (math.log(f["max"]) - math.log(f["min"]))))
            elif f["kind"] == "whole":
                x.append(round(f["min"] + u * (f["max"] - f["min"])))
            else:
                x.append(f["min"] + u * (f["max"] - f["min"]))
        return x

    sobol = torch.quasirandom.SobolEngine(d, scramble=True, seed=seed)
    u = sobol.draw(max(5, 2 * d)).double()
    for i in listed:
        n = factors[i]["n"]
        u[:, i] = (u[:, i] * n).floor().clamp(max=n - 1) / max(n - 1, 1)
    x = torch.stack([whole(p) for p in low + u * (high - low)])
    y = torch.tensor([[ask(setting(p))] for p in x], dtype=torch.double)
    bounds = torch.stack([low, high])
    while len(y) < questions:
        scaled = (y - y.mean()) / y.std().clamp(min=1e-9)
        process = MixedSingleTaskGP(x, scaled, cat_dims=listed) if listed else SingleTaskGP(x, scaled)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(process.likelihood, process))
        acquisition = LogExpectedImprovement(process, best_f=scaled.max())
        if not listed:
            at, _ = optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=4, raw_samples=128)
        elif len(listed) == d:
            import itertools

            every = torch.tensor(list(itertools.product(*[range(factors[i]["n"]) for i in listed])), dtype=torch.double)
            seen = {tuple(p.tolist()) for p in x}
            left = [p for p in every if tuple(p.tolist()) not in seen] or list(every)
            with torch.no_grad():
                worth = acquisition(torch.stack(left)[:, None, :])
            at = left[int(worth.argmax())][None]
        else:
            # Ten combinations of choices are drawn, beside that of the best so far.
            drawn = [{i: float(np.random.randint(factors[i]["n"])) for i in listed} for _ in range(10)]
            drawn.append({i: float(x[int(y.argmax())][i]) for i in listed})
            at, _ = optimize_acqf_mixed(acquisition, bounds=bounds, q=1, num_restarts=2, raw_samples=32, fixed_features_list=drawn)
        at = whole(at[0])
        x, y = torch.cat([x, at[None]]), torch.cat([y, torch.tensor([[ask(setting(at))]], dtype=torch.double)])


def by_turbo(factors, seed, questions):
    import gpytorch, torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.generation import MaxPosteriorSampling
    from botorch.models import SingleTaskGP

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    d = len(factors)
    low, high = ([f[end] for f in factors] for end in ("min", "max"))

    def heard(point):
        return ask([lo + u * (hi - lo) for u, lo, hi in zip(point.tolist(), low, high)])

    sobol = torch.quasirandom.SobolEngine(d, scramble=True, seed=seed)
    x = sobol.draw(2 * d).double()
    y = torch.tensor([[heard(p)] for p in x], dtype=torch.double)
    length, good, bad, best, since = 0.8, 0, 0, y.max().item(), 0
    while len(y) < questions:
        own, answers = x[since:], y[since:]
        scaled = (answers - answers.mean()) / answers.std().clamp(min=1e-9)
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.Interval(1e-8, 1e-3))
        kernel = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=d, lengthscale_constraint=gpytorch.constraints.Interval(0.005, 4.0))
        )
        process = SingleTaskGP(own, scaled, covar_module=kernel, likelihood=likelihood)
        fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, process))
        middle = own[scaled.argmax(), :].clone()
        weights = process.covar_module.base_kernel.lengthscale.squeeze().detach()
        weights = weights / weights.mean()
        weights = weights / torch.prod(weights.pow(1.0 / d))
        ends = [(middle + sign * weights * length / 2.0).clamp(0.0, 1.0) for sign in (-1, 1)]
        many = min(5000, max(2000, 200 * d))
        drawn = torch.quasirandom.SobolEngine(d, scramble=True).draw(many).double()
        drawn = ends[0] + (ends[1] - ends[0]) * drawn
        moved = torch.rand(many, d, dtype=torch.double) <= min(20.0 / d, 1.0)
        none = torch.where(moved.sum(dim=1) == 0)[0]
        moved[none, torch.randint(0, d, size=(len(none),))] = True
        points = middle.expand(many, d).clone()
        points[moved] = drawn[moved]
        with torch.no_grad():
            at = MaxPosteriorSampling(model=process, replacement=False)(points, num_samples=1)[0]
        loss = heard(at)
        x, y = torch.cat([x, at[None]]), torch.cat([y, torch.tensor([[loss]], dtype=torch.double)])
        good, bad = (good + 1, 0) if loss > best + 1e-3 * abs(best) else (0, bad + 1)
        best = max(best, loss)
        if good == 10:
            length, good = min(2.0 * length, 1.6), 0
        elif bad == max(4, d):
            length, bad = length / 2.0, 0
        if length < 0.5**7 and questions - len(y) > 2 * d:
            # The region has shrunk to nothing: it begins anew elsewhere.
            since, more = len(y), sobol.draw(2 * d).double()
            answers = torch.tensor([[heard(p)] for p in more], dtype=torch.double)
            x, y = torch.cat([x, more]), torch.cat([y, answers])
            length, good, bad, best = 0.8, 0, 0, answers.max().item()


def by_smac(factors, seed, questions):
    import tempfile
    from ConfigSpace import Categorical, ConfigurationSpace, Float, Integer
    from smac import HyperparameterOptimizationFacade, Scenario

    space = ConfigurationSpace(seed=seed)
    for f in factors:
        name = f["name"]
        if f["kind"] == "choices":
            space.add(Categorical(name, list(range(f["n"]))))
        elif f["kind"] == "whole":
            space.add(Integer(name, (f["min"], f["max"])))
        else:
            space.add(Float(name, (f["min"], f["max"]), log=f["kind"] == "log"))
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=True, n_trials=questions, seed=seed, output_directory=folder)
        smac = HyperparameterOptimizationFacade(
            scenario, lambda config, seed=0: -ask([config[f["name"]] for f in factors]), overwrite=True, logging_level=False
        )
        smac.optimize()


def by_egobox(factors, seed, questions):
    import egobox as egx

    def spec(f):
        if f["kind"] == "choices":
            return egx.XSpec(egx.XType.ENUM, [f["n"]])
        if f["kind"] == "log":
            return egx.XSpec(egx.XType.FLOAT, [math.log(f["min"]), math.log(f["max"])])
        return egx.XSpec(egx.XType.INT if f["kind"] == "whole" else egx.XType.FLOAT, [f["min"], f["max"]])

    def loss(points):
        settings = [[math.exp(v) if f["kind"] == "log" else v for f, v in zip(factors, p)] for p in points]
        return np.array([[-ask(x)] for x in settings])

    first = max(5, 2 * len(factors))
    egx.Egor([spec(f) for f in factors], n_doe=first, seed=seed).minimize(loss, max_iters=questions - first)


def version():
    from importlib.metadata import version

    return version({"turbo": "botorch"}.get(which, which.split("-")[0] if which.startswith("optuna") else which))


run = {"botorch": by_botorch, "turbo": by_turbo, "smac": by_smac, "scikit-learn": by_scikit_learn, "egobox": by_egobox}.get(which, by_optuna)
if which.startswith("optuna"):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
elif which in ("botorch", "turbo"):
    import botorch.fit, botorch.models, botorch.optim
elif which == "smac":
    import smac
elif which == "egobox":
    import egobox
else:
    import scipy.optimize, sklearn.gaussian_process
say({"version": version()})
for line in sys.stdin:
    job = json.loads(line)
    np.random.seed(job["seed"])
    begun = time.process_time()
    run(job["factors"], job["seed"], job["questions"])
    # Of the processor: while it waits for answers none pass.
    say({"seconds": time.process_time() - begun})
