// A step of an autograd graph whose gradient is worked out by whoever answered: at its place a function of the caller's is asked.

#include <exception>
#include <stdexcept>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/graph_task.h>

using torch::autograd::Node;
using torch::autograd::variable_list;

extern "C" {
// What the gradient becomes behind the answer, from what it is before it; none where that failed. `again`: whether it may be asked once
// more, `further`: whether the gradient is to have a graph.
typedef at::Tensor* (*PullBack)(void* held, const at::Tensor* upstream, bool again, bool further);
typedef void (*LetGo)(void* held);
}

namespace {
struct Elsewhere : public Node {
  Elsewhere(void* held, PullBack pull_back, LetGo let_go) : held(held), pull_back(pull_back), let_go(let_go) {}
  ~Elsewhere() override { let_go(held); }

  variable_list apply(variable_list&& upstream) override {
    if (!upstream.at(0).defined()) return {at::Tensor()};
    at::Tensor* found = pull_back(held, &upstream[0], torch::autograd::get_current_graph_task_keep_graph(), at::GradMode::is_enabled());
    if (found == nullptr) throw std::runtime_error("a gradient that is worked out elsewhere");
    variable_list gradient = {std::move(*found)};
    delete found;
    return gradient;
  }

  std::string name() const override { return "Elsewhere"; }

  void* held;
  PullBack pull_back;
  LetGo let_go;
};
} // namespace

// The same numbers as `answer`, in a graph that leads to `images` by way of `pull_back`. `held` is this graph's from here on.
extern "C" at::Tensor* viva_answered_elsewhere(
    const at::Tensor* images, const at::Tensor* answer, void* held, PullBack pull_back, LetGo let_go) {
  std::shared_ptr<Node> node;
  try {
    node = std::shared_ptr<Node>(new Elsewhere(held, pull_back, let_go), torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(*images));
    torch::autograd::Variable scores = answer->detach();
    torch::autograd::create_gradient_edge(scores, node);
    return new at::Tensor(std::move(scores));
  } catch (const std::exception&) {
    return nullptr;
  }
}
