"""A vision-language model as judge, behind any OpenAI-compatible endpoint.

prompt           the request: goal, actions, last screenshots; what a phone shows is data, not instructions
reply            strict parsing of the reply: exactly one JSON object of the schema
endpoint         one HTTP request: timeout, size limit, no redirects
api_key          the API key: read from the environment, sent in a header, never logged
retry_after      the delay that an endpoint asks for
circuit_breaker  stops requests to an endpoint that keeps failing
cache            verdicts by content of the request
counters         requests, retries, tokens, cost
judge            the judge: cache, retries, verdict
"""
