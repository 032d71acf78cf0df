# The page in a container: docs/hosting.md says how to build and run it.
FROM python:3.11-slim

# PyTorch for processors alone takes a tenth of the room; its index for CUDA, such as .../whl/cu128, brings the GPU's.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

WORKDIR /srv/glass-llama
COPY requirements.txt requirements.lock ./
RUN pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" --requirement requirements.txt --constraint requirements.lock
COPY app.py ./
COPY model model
COPY visuals visuals
COPY app app
RUN useradd --system --uid 10001 --home-dir /tmp glass

USER 10001
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 GRADIO_TEMP_DIR=/tmp/gradio GRADIO_ANALYTICS_ENABLED=False
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:7860/healthz', timeout=4)"]
ENTRYPOINT ["python", "app.py", "--host", "0.0.0.0", "--port", "7860"]
