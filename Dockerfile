# The image of the workers and of the migration job; `holdfast` itself works in it too.
FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/holdfast
ENV PATH=/opt/holdfast/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
# First what seldom changes: a changed line of ours does not install everything anew.
COPY requirements-all.lock ./
RUN pip install --require-hashes --requirement requirements-all.lock
COPY . .
RUN pip install --no-deps .

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 holdfast
COPY --from=build /opt/holdfast /opt/holdfast
ENV PATH=/opt/holdfast/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER holdfast
WORKDIR /home/holdfast
STOPSIGNAL SIGTERM
CMD ["python", "-P", "-m", "holdfast.worker", "--supervise"]
