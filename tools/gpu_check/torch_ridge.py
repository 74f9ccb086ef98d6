"""The same ridge regression by torch: the documented algorithm, and himalaya's solvers where they can be imported.
Both get the targets as numpy arrays on the host and give numpy arrays back."""
import importlib.util

import numpy as np

from ridge import choose, make_folds


def find_torch():
    """(torch, device), or (None, reason)."""
    if importlib.util.find_spec("torch") is None:
        return None, "torch is not installed"
    try:
        import torch
    except Exception as problem:  # a build whose libraries are missing here
        return None, f"torch cannot be imported: {str(problem).splitlines()[0]}"
    torch.backends.cuda.matmul.allow_tf32 = False
    return torch, "cuda" if torch.cuda.is_available() else "cpu"


def torch_search(torch, device, X, Y, alphas, n_folds, coefs, width=20000):
    """Per fold one singular value decomposition and all penalties at once, targets in blocks; Y: single precision.
    Without an intercept. Returns (mean R2 over folds, index of the chosen penalties, coefficients or None)."""
    x = torch.from_numpy(X.astype(np.float32)).to(device)
    penalties = torch.from_numpy(alphas.astype(np.float32)).to(device)
    host, t = torch.from_numpy(Y), Y.shape[1]
    scores = torch.zeros(len(alphas), t)

    def factors(rows):
        U, s, Vt = torch.linalg.svd(rows, full_matrices=False)
        return U, s, Vt

    for held in make_folds(len(X), n_folds):
        first, after = int(held[0]), int(held[-1]) + 1
        U, s, Vt = factors(torch.cat([x[:first], x[after:]]))
        left = x[first:after] @ Vt.T
        operators = (left * (s / (s * s + penalties[:, None]))[:, None, :]) @ U.T  # alphas x held x training
        for j in range(0, t, width):
            y = host[:, j:j + width].to(device)
            truth = y[first:after]
            predicted = operators @ torch.cat([y[:first], y[after:]])
            total = ((truth - truth.mean(0)) ** 2).sum(0)
            scores[:, j:j + width] += (1 - ((truth - predicted) ** 2).sum(1) / total).cpu() / n_folds
    best = choose(scores.numpy())
    if not coefs:
        return scores.numpy(), best, None
    U, s, Vt = factors(x)
    out = torch.empty(X.shape[1], t)
    chosen = penalties[torch.from_numpy(best).to(device)]
    for j in range(0, t, width):
        rotated = U.T @ host[:, j:j + width].to(device)
        shrunk = s[:, None] / (s[:, None] ** 2 + chosen[j:j + width])
        out[:, j:j + width] = (Vt.T @ (shrunk * rotated)).cpu()
    return scores.numpy(), best, out.numpy()


def himalaya_search(torch, device, X, Y, alphas, n_folds, coefs, width=20000):
    """The kernel solver of himalaya where there are fewer samples than features, else the other one."""
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import solve_kernel_ridge_cv_eigenvalues
    from himalaya.ridge import solve_ridge_cv_svd
    from himalaya.scoring import r2_score
    backend = set_backend("torch_cuda" if device == "cuda" else "torch")
    x = backend.asarray(X.astype(np.float32))
    batches = {"n_targets_batch": width, "n_targets_batch_refit": width, "Y_in_cpu": True}
    common = {"alphas": alphas.astype(np.float32), "score_func": r2_score, "cv": n_folds, **batches}
    if X.shape[0] >= X.shape[1]:
        best, primal, scores = solve_ridge_cv_svd(x, Y, warn=False, **common)[:3]
    else:
        best, dual, scores = solve_kernel_ridge_cv_eigenvalues(x @ x.T, Y, **common)[:3]
        primal = None
        if coefs:
            primal = torch.empty(X.shape[1], Y.shape[1])
            for j in range(0, Y.shape[1], width):
                primal[:, j:j + width] = (x.T @ dual[:, j:j + width].to(device)).cpu()
    # it returns exp(-log(1 / alpha)): back to the grid
    distance = np.abs(np.log(np.asarray(best.cpu(), np.float64)[:, None]) - np.log(alphas))
    return scores.cpu().numpy(), distance.argmin(1), None if primal is None else primal.cpu().numpy()
