"""JAX as a peer, on one CPU core, with 64-bit numbers. Import `jax` from here: what it uses is set before it is loaded."""

import os

# Before the imports, which read them.
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ.update(dict.fromkeys(("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

NAME, VERSION = "jax", jax.__version__


def prepare(learn, settings, steps):
    settings = jnp.asarray(settings)
    steps = tuple(jnp.asarray(column) for column in steps)
    compiled = learn.lower(settings, steps).compile()
    return lambda: np.asarray(compiled(settings, steps).block_until_ready())
