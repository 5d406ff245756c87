"""Error bodies that providers really sent, as published: what to do with each is tested in test_faults.py.

Messages are trimmed to the part that decides; account names are left out. ``None``: no published body was found.
A status of 200 is an error that came in the body of a reply that had begun well. Bodies whose source is a documentation
page are put together from the fields it names. Mistral's status for a wrong model is not in its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from readagent_core import errors

KINDS: dict[str, type[errors.ModelError]] = {
    "rate limit": errors.RateLimitError,
    "no credit": errors.NoCreditError,
    "bad key": errors.KeyRefusedError,
    "no model": errors.UnknownModelError,
    "too long": errors.WindowError,
    "refused": errors.RefusedError,
    "overloaded": errors.ServerFailedError,
}


@dataclass(frozen=True)
class Body:
    """``window``: the limit it names, in tokens. ``wait``: the seconds it asks for. ``daily``: a day's quota."""

    status: int
    json: Any
    source: str
    headers: Mapping[str, str] = field(default_factory=dict)
    window: int | None = None
    wait: float | None = None
    daily: bool = False


GITHUB = "https://github.com"


def openai(message: str, code: Any, kind: str | None = "invalid_request_error", **more: Any) -> dict[str, Any]:
    """OpenAI's shape, which several others use."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code, **more}}


def google(code: int, message: str, status: str, *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def anthropic(kind: str, message: str, **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "req_1"}


def quota(*ids: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": name} for name in ids]}


GOOGLE_QUOTA = "You exceeded your current quota, please check your plan and billing details."

BODIES: dict[str, dict[str, Body | None]] = {
    "OpenAI": {
        "rate limit": Body(
            429,
            openai(
                "Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 9348, Requested 5086. Please "
                "try again in 26.604s.",
                "rate_limit_exceeded",
                "tokens",
            ),
            f"{GITHUB}/rotemweiss57/gpt-newspaper/issues/10",
            wait=26.604,
        ),
        "no credit": Body(
            429,
            openai(
                "You exceeded your current quota, please check your plan and billing details.",
                "insufficient_quota",
                "insufficient_quota",
            ),
            f"{GITHUB}/langchain-ai/chat-langchain/issues/428",
        ),
        "bad key": Body(
            401,
            openai("Incorrect API key provided: sk-PMafP****E873.", "invalid_api_key"),
            f"{GITHUB}/popjane/free_chatgpt_api/issues/3",
        ),
        "no model": Body(
            404,
            openai("The model `gpt-4o` does not exist or you do not have access to it.", "model_not_found"),
            f"{GITHUB}/feder-cr/invisible_playwright_mcp/issues/889",
        ),
        "too long": Body(
            400,
            openai(
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens.",
                "context_length_exceeded",
                param="messages",
            ),
            f"{GITHUB}/crewAIInc/crewAI-examples/issues/121",
            window=8192,
        ),
        "refused": Body(
            400,
            openai(
                "Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "invalid_prompt"
            ),
            f"{GITHUB}/BeehiveInnovations/pal-mcp-server/issues/178",
        ),
        "overloaded": Body(
            200,
            openai(
                "Our servers are currently overloaded. Please try again later.",
                "server_is_overloaded",
                "service_unavailable_error",
            ),
            f"{GITHUB}/Wei-Shaw/sub2api/issues/6631",
        ),
        "too long, more than a minute's tokens": Body(
            429,
            openai(
                "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30601. The input or "
                "output tokens must be reduced in order to run successfully.",
                "rate_limit_exceeded",
                "tokens",
            ),
            f"{GITHUB}/vanderschaarlab/climb/issues/1",
            window=30_000,
        ),
    },
    "Azure OpenAI": {
        "rate limit": Body(
            429,
            {
                "error": {
                    "code": "429",
                    "message": "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of "
                    "your current AIServices S0 pricing tier. Please retry after 86400 seconds.",
                }
            },
            f"{GITHUB}/jasonacox/TinyLLM/issues/17",
            wait=86_400,
        ),
        "no credit": None,
        "bad key": Body(
            401,
            {"error": {"code": "401", "message": "Access denied due to invalid subscription key or wrong endpoint."}},
            f"{GITHUB}/microsoft/semantic-kernel/issues/10337",
        ),
        "no model": Body(
            404,
            {
                "error": {
                    "code": "DeploymentNotFound",
                    "message": "The API deployment for this resource does not exist.",
                }
            },
            f"{GITHUB}/assafelovic/gpt-researcher/issues/980",
        ),
        "too long": None,
        "refused": Body(
            400,
            openai(
                "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
                "content_filter",
                None,
                param="prompt",
                status=400,
                innererror={
                    "code": "ResponsibleAIPolicyViolation",
                    "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}},
                },
            ),
            f"{GITHUB}/vibrantlabsai/ragas/issues/649",
        ),
        "overloaded": None,
    },
    "Anthropic": {
        "rate limit": Body(
            429,
            anthropic(
                "rate_limit_error", "This request would exceed your account's rate limit. Please try again later."
            ),
            f"{GITHUB}/anthropics/claude-code/issues/71668",
        ),
        "no credit": Body(
            400,
            anthropic(
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
            ),
            f"{GITHUB}/anthropics/claude-quickstarts/issues/83",
        ),
        "bad key": Body(
            401,
            anthropic("authentication_error", "invalid x-api-key"),
            f"{GITHUB}/Good-player/free-claude-api-and-anthropic/issues/14",
        ),
        "no model": Body(
            404,
            anthropic("not_found_error", "model: sonnet4"),
            f"{GITHUB}/anthropics/claude-code/issues/5349",
        ),
        "too long": Body(
            400,
            anthropic("invalid_request_error", "prompt is too long: 208656 tokens > 200000 maximum"),
            f"{GITHUB}/sojohnnysaid/project-guide/issues/2",
            window=200_000,
        ),
        "refused": Body(
            400,
            anthropic("invalid_request_error", "Output blocked by content filtering policy"),
            f"{GITHUB}/anthropics/claude-code/issues/6195",
        ),
        "overloaded": Body(
            529, anthropic("overloaded_error", "Overloaded"), f"{GITHUB}/anthropics/claude-code/issues/3628"
        ),
        "too long, with the reply": Body(
            400,
            anthropic(
                "invalid_request_error",
                "input length and max_tokens exceed context limit: 198981 + 21333 > 200000, decrease input length or "
                "max_tokens and try again",
            ),
            f"{GITHUB}/anymorph-ai/Claudable/issues/3",
            window=200_000,
        ),
        "no credit, a month's limit": Body(
            429,
            anthropic("rate_limit_error", "…", details={"error_code": "enforced_spend_limit_reached"}),
            "https://learn.microsoft.com/es-es/microsoft-cloud/dev/dev-proxy/concepts/anthropic-529-overloaded-error",
        ),
    },
    "Anthropic, OpenAI-compatible": dict.fromkeys(KINDS),
    "Gemini": {
        "rate limit": Body(
            429,
            google(
                429,
                GOOGLE_QUOTA,
                "RESOURCE_EXHAUSTED",
                quota("GenerateContentInputTokensPerModelPerMinute-FreeTier"),
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26s"},
            ),
            f"{GITHUB}/RooCodeInc/Roo-Code/issues/3883",
            wait=26,
        ),
        "no credit": Body(
            429,
            google(
                429,
                GOOGLE_QUOTA,
                "RESOURCE_EXHAUSTED",
                quota(
                    "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
                    "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
                ),
            ),
            f"{GITHUB}/google-gemini/gemini-cli/issues/8437",
            daily=True,
        ),
        "bad key": Body(
            400,
            google(
                400,
                "API key not valid. Please pass a valid API key.",
                "INVALID_ARGUMENT",
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"},
            ),
            f"{GITHUB}/continuedev/continue/issues/10530",
        ),
        "no model": Body(
            404,
            google(
                404,
                "models/gemini-pro is not found for API version v1beta, or is not supported for generateContent.",
                "NOT_FOUND",
            ),
            f"{GITHUB}/continuedev/continue/issues/9939",
        ),
        "too long": Body(
            400,
            [
                google(
                    400,
                    "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
                    "INVALID_ARGUMENT",
                )
            ],
            f"{GITHUB}/google-gemini/gemini-cli/issues/6678",
            window=1_048_576,
        ),
        "refused": None,
        "overloaded": Body(
            503,
            google(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"),
            f"{GITHUB}/google-gemini/cookbook/issues/425",
        ),
        "rate limit, only in words": Body(
            429,
            google(429, "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED"),
            f"{GITHUB}/googleapis/python-genai/issues/2065",
        ),
    },
    "OpenRouter": {
        "rate limit": Body(
            429,
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 429,
                    "metadata": {"raw": "z-ai/glm-5.3-flash is temporarily rate-limited upstream."},
                }
            },
            f"{GITHUB}/open-webui/computer/issues/293",
        ),
        "no credit": Body(
            402,
            {
                "error": {
                    "message": "This request requires more credits, or fewer max_tokens. You requested up to 65536 "
                    "tokens, but can only afford 10114.",
                    "code": 402,
                    "metadata": {"provider_name": None},
                }
            },
            f"{GITHUB}/babikov/doka-site/issues/7",
        ),
        "bad key": Body(
            401, {"error": {"message": "User not found.", "code": 401}}, f"{GITHUB}/apurvsinghgautam/robin/issues/103"
        ),
        "no model": Body(
            400,
            {"error": {"message": "claude-sonnet-4-6 is not a valid model ID", "code": 400}},
            f"{GITHUB}/OpenRouterTeam/openrouter-examples/issues/74",
        ),
        "too long": Body(
            400,
            openai("This model's maximum context length is 8192 tokens, however you requested 8977 tokens.", None),
            f"{GITHUB}/OpenRouterTeam/openrouter-examples/issues/10",
            window=8192,
        ),
        "refused": Body(
            403,
            {
                "error": {
                    "code": 403,
                    "message": "Your chosen model requires moderation and your input was flagged",
                    "metadata": {"reasons": ["violence"], "flagged_input": "…", "model_slug": "a/b"},
                }
            },
            "https://openrouter.ai/docs/errors",
        ),
        "overloaded": Body(
            503,
            {"error": {"code": 503, "message": "There is no available model provider that meets your requirements"}},
            "https://openrouter.ai/docs/errors",
        ),
        "no credit, free models": Body(
            429,
            {
                "error": {
                    "message": "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model "
                    "requests per day",
                    "code": 429,
                    "metadata": {"headers": {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0"}},
                }
            },
            f"{GITHUB}/Gitlawb/openclaude/issues/936",
            daily=True,
        ),
    },
    "Mistral": {
        "rate limit": Body(
            429,
            {
                "object": "error",
                "message": "Rate limit exceeded",
                "type": "rate_limited",
                "param": None,
                "code": "1300",
            },
            f"{GITHUB}/raycast/extensions/issues/31107",
        ),
        "no credit": None,
        "bad key": Body(401, {"detail": "Unauthorized"}, f"{GITHUB}/nextcloud/integration_openai/issues/332"),
        "no model": Body(
            400,
            {"object": "error", "message": "Invalid model: ", "type": "invalid_model", "param": None, "code": "1500"},
            f"{GITHUB}/tmc/langchaingo/issues/1233",
        ),
        "too long": None,
        "refused": None,
        "overloaded": None,
    },
    "Groq": {
        "rate limit": Body(
            429,
            {
                "error": {
                    "message": "Rate limit reached for model `llama3-70b-8192` on tokens per minute (TPM): Limit 6000, "
                    "Used 5914, Requested 1822. Please try again in 17.359s.",
                    "type": "tokens",
                    "code": "rate_limit_exceeded",
                }
            },
            f"{GITHUB}/mindcraft-bots/mindcraft/pull/188",
            wait=17.359,
        ),
        "no credit": None,
        "bad key": Body(
            401,
            {"error": {"message": "Invalid API Key", "type": "invalid_request_error", "code": "invalid_api_key"}},
            f"{GITHUB}/ag5826000/resume-commentor/issues/4",
        ),
        "no model": Body(
            400,
            {
                "error": {
                    "message": "The model `qwen-qwq-32b` has been decommissioned and is no longer supported.",
                    "type": "invalid_request_error",
                    "code": "model_decommissioned",
                }
            },
            f"{GITHUB}/atiilla/sqlmap-ai/issues/3",
        ),
        "too long": Body(
            413,
            {
                "error": {
                    "message": "Request too large for model `llama-3.1-70b-versatile` on tokens per minute (TPM): "
                    "Limit 6000, Requested 14368, please reduce your message size and try again.",
                    "type": "tokens",
                    "code": "rate_limit_exceeded",
                }
            },
            f"{GITHUB}/assafelovic/gpt-researcher/issues/985",
            window=6000,
        ),
        "refused": None,
        "overloaded": None,
    },
    "DeepSeek": {
        "rate limit": None,
        "no credit": Body(
            402, {"error": {"message": "Insufficient Balance"}}, f"{GITHUB}/continuedev/continue/issues/10121"
        ),
        "bad key": Body(
            401,
            openai(
                "Authentication Fails, Your api key: ****_KEY is invalid",
                "invalid_request_error",
                "authentication_error",
            ),
            f"{GITHUB}/FullStackPlayer/claude-code-launcher/issues/3",
        ),
        "no model": Body(
            400,
            openai("Model Not Exist", "invalid_request_error"),
            f"{GITHUB}/langbot-app/LangBot/issues/1643",
        ),
        "too long": Body(
            400,
            openai(
                "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in "
                "the messages, 8192 in the completion).",
                "invalid_request_error",
            ),
            f"{GITHUB}/evalstate/fast-agent/issues/621",
            window=131_072,
        ),
        "refused": Body(
            400,
            openai("Content Exists Risk", "invalid_request_error"),
            f"{GITHUB}/666ghj/BettaFish/issues/691",
        ),
        "overloaded": None,
        "refused, another shape": Body(
            400, {"detail": "Content Exists Risk"}, f"{GITHUB}/deepseek-ai/DeepSeek-V2/issues/30"
        ),
    },
    "vLLM": {
        "rate limit": None,
        "no credit": None,
        "bad key": None,
        "no model": Body(
            404,
            {
                "object": "error",
                "message": "The model `Qwen1.5-14B-Chat-GPTQ-Int8` does not exist.",
                "type": "NotFoundError",
                "param": None,
                "code": 404,
            },
            f"{GITHUB}/vllm-project/vllm/issues/3486",
        ),
        "too long": Body(
            400,
            {
                "object": "error",
                "message": "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens "
                "(9591 in the messages, 10000 in the completion).",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            },
            f"{GITHUB}/vllm-project/vllm/issues/20409",
            window=16_384,
        ),
        "refused": None,
        "overloaded": None,
    },
    "Ollama": {
        "rate limit": None,
        "no credit": None,
        "bad key": None,
        "no model": Body(
            404,
            {"error": "model 'llama3' not found, try pulling it first"},
            f"{GITHUB}/ollama/ollama/issues/3876",
        ),
        "too long": None,  # it cuts the prompt instead: see "prompt cut" in faults.FAULTS
        "refused": None,
        "overloaded": Body(
            503,
            {"error": "server busy, please try again. maximum pending requests exceeded"},
            f"{GITHUB}/ollama/ollama/issues/4159",
        ),
    },
    "LM Studio": {
        **dict.fromkeys(KINDS),
        "too long": Body(
            400,
            {
                "error": "The number of tokens to keep from the initial prompt is greater than the context length "
                "(n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length."
            },
            f"{GITHUB}/Gitlawb/openclaude/issues/353",
            window=4096,
        ),
    },
    "llama.cpp": {
        **dict.fromkeys(KINDS),
        "bad key": Body(
            401,
            {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}},
            f"{GITHUB}/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        ),
        "too long": Body(
            200,
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size. try increasing the context size",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 14429,
                    "n_ctx": 8192,
                }
            },
            f"{GITHUB}/oobabooga/textgen/issues/7257",
            window=8192,
        ),
        "too long, as a failure": Body(
            500,
            {
                "error": {
                    "code": 500,
                    "message": "the request exceeds the available context size. try increasing the context size",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 1407,
                    "n_ctx": 256,
                }
            },
            f"{GITHUB}/ggml-org/llama.cpp/pull/15780",
            window=256,
        ),
        "overloaded": Body(
            503,
            {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
            f"{GITHUB}/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        ),
    },
}
