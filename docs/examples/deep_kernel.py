"""Learn the length scale of random features by gradient descent: the data and the features are tensors."""

import torch

from random_features import make_map

generator = torch.Generator().manual_seed(0)
X = torch.rand(500, 2, generator=generator) * 6 - 3
y = torch.sin(3 * X[:, 0]) + 0.1 * torch.randn(500, generator=generator)

features = make_map("orf", n_components=200, random_state=0).fit(X).as_module()  # length scale 1
readout = torch.nn.Linear(400, 1)
optimiser = torch.optim.Adam([*features.parameters(), *readout.parameters()], lr=0.05)

for step in range(301):
    loss = torch.nn.functional.mse_loss(readout(features(X))[:, 0], y)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if step % 100 == 0:
        length_scale = float(features.log_length_scale.detach().exp())
        print(f"step {step:3}: squared error {loss:.3f}, length scale {length_scale:.1f}")
