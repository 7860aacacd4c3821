"""Bayesian optimisation by others: GP-UCB on nine factors, two random points and then `steps` questions, kappa 2.576, one object.

usage: python examiner.py <scikit-learn | botorch | botorch-25 | ax> <steps> <threads>
scikit-learn: GaussianProcessRegressor(Matern 5/2, one lengthscale), fitted at every step with five restarts; the bound over 10,000 random points,
    the best five improved by L-BFGS.
botorch: SingleTaskGP (a lengthscale for each factor) and UpperConfidenceBound, fitted at every step; 10 restarts of 512 raw samples.
botorch-25: the same, fitted at every 25th step.
ax: Client with its defaults.
Prints the seconds without those of the objective."""
import json, os, sys, time

which, T, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(threads)
import logging
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
import numpy as np

D, KAPPA = 9, 2.576
top = np.random.RandomState(7).rand(D)
spent = 0.0
best = -9.0


def objective(x):
    global spent, best
    begun = time.perf_counter()
    x = np.asarray(x, dtype=float)
    y = float(np.exp(-0.8 * ((x - top) ** 2).sum()) + 0.15 * np.sin(7 * x[0]) * np.cos(5 * x[1]))
    spent += time.perf_counter() - begun
    best = max(best, y)
    return y


def scikit_learn():
    import sklearn
    from scipy.optimize import minimize
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern

    rng = np.random.RandomState(0)
    x = rng.rand(2, D)
    y = np.array([objective(p) for p in x])
    process = GaussianProcessRegressor(Matern(nu=2.5), alpha=1e-6, normalize_y=True, n_restarts_optimizer=5, random_state=0)
    for _ in range(T):
        process.fit(x, y)
        points = rng.rand(10000, D)
        mean, deviation = process.predict(points, return_std=True)
        bound = mean + KAPPA * deviation

        def negative(p):
            mean, deviation = process.predict(p[None], return_std=True)
            return -(mean[0] + KAPPA * deviation[0])

        most, at = bound.max(), points[bound.argmax()]
        for start in points[np.argsort(bound)[-5:]]:
            found = minimize(negative, start, bounds=[(0, 1)] * D, method="L-BFGS-B")
            if -found.fun > most:
                most, at = -found.fun, found.x
        x, y = np.vstack([x, at]), np.append(y, objective(at))
    return sklearn.__version__


def by_botorch(every):
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    import botorch
    from botorch.acquisition import UpperConfidenceBound
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    x = torch.rand(2, D, dtype=torch.double)
    y = torch.tensor([[objective(p.numpy())] for p in x], dtype=torch.double)
    bounds = torch.stack([torch.zeros(D), torch.ones(D)]).double()
    fitted = None
    for t in range(T):
        process = SingleTaskGP(x, y)
        if t % every == 0:
            fit_gpytorch_mll(ExactMarginalLogLikelihood(process.likelihood, process))
            fitted = process.state_dict()
        else:
            own = process.state_dict()
            own.update({k: v for k, v in fitted.items() if "raw" in k})
            process.load_state_dict(own)
        at, _ = optimize_acqf(UpperConfidenceBound(process, beta=KAPPA**2), bounds=bounds, q=1, num_restarts=10, raw_samples=512)
        x = torch.cat([x, at])
        y = torch.cat([y, torch.tensor([[objective(at[0].numpy())]], dtype=torch.double)])
    return botorch.__version__


def by_ax():
    import ax
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig

    client = Client(random_seed=0)
    client.configure_experiment(parameters=[RangeParameterConfig(name=f"x{i}", parameter_type="float", bounds=(0, 1)) for i in range(D)])
    client.configure_optimization(objective="y")
    for _ in range(T + 2):
        for number, parameters in client.get_next_trials(max_trials=1).items():
            y = objective([parameters[f"x{i}"] for i in range(D)])
            client.complete_trial(trial_index=number, raw_data={"y": y})
    return ax.__version__


run = {"scikit-learn": scikit_learn, "botorch": lambda: by_botorch(1), "botorch-25": lambda: by_botorch(25), "ax": by_ax}[which]
# What is imported, and done once, is not counted.
if which == "scikit-learn":
    import scipy.optimize, sklearn.gaussian_process
elif which == "ax":
    import ax.api.client
else:
    import botorch.fit, botorch.models, botorch.optim
begun = time.perf_counter()
version = run()
print(json.dumps({"seconds": time.perf_counter() - begun - spent, "version": version, "best": best}))
