"""A vision-language model as judge, behind any OpenAI-compatible endpoint.

prompt     what it is asked: the goal, the actions, the last screenshots; what a phone shows is data
reply      what counts as an answer: exactly one JSON object of the schema, nothing else
endpoint   one request over HTTP: deadline, size, no redirects
secret     the key: from the environment into a header, and nowhere else
breaker    when not to ask at all
cache      verdicts by content
retry_after   how long the endpoint asks to be left alone
counters   what was asked, and what it cost
judge      all of it together
"""
