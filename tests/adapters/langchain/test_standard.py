"""LangChain's own standard tests for a retriever, tools and a chat model."""

from __future__ import annotations

import pytest
from langchain_palace import ChatPalace, PalaceRetriever, palace_tools
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests, ToolsUnitTests

from palace import Mempalace
from tests.adapters.langchain.doubles import CountingModel, honest

ARGUMENTS = {
    "palace_search": {"query": "Which port does the tunnel use?"},
    "palace_read": {},
    "palace_remember": {"text": "The tunnel uses port 5432."},
    "palace_correct": {"memory_id": "m-unknown", "text": "The tunnel uses port 1."},
    "palace_forget": {"memory_id": "m-unknown"},
    "palace_note": {"text": "The tunnel is slow."},
    "palace_promote": {"note_id": "s-1", "room": "r", "summary": "s", "reason": "r"},
    "palace_wake_up": {},
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with Mempalace.open(tmp_path_factory.mktemp("standard") / "palace") as palace:
        for port in range(5431, 5436):
            palace.remember(f"Port {port} belongs to the staging tunnel.", on_conflict="keep")
        yield palace


@pytest.fixture(autouse=True)
def use_shared(request, shared):
    if request.cls is not None:
        request.cls.palace = shared


class TestRetriever(RetrieversIntegrationTests):
    palace: Mempalace

    @property
    def retriever_constructor(self):
        return PalaceRetriever

    @property
    def retriever_constructor_params(self):
        return {"palace": self.palace}

    @property
    def retriever_query_example(self):
        return "Which port belongs to the staging tunnel?"

    @pytest.fixture
    def retriever(self, use_shared):
        return PalaceRetriever(palace=self.palace)


class Tooling:
    """One class for each tool is made below."""

    tool_name: str
    palace: Mempalace

    @property
    def tool_constructor(self):
        tools = palace_tools(self.palace, session_id="a")
        return next(tool for tool in tools if tool.name == self.tool_name)

    @property
    def tool_invoke_params_example(self):
        return ARGUMENTS[self.tool_name]

    @pytest.fixture
    def tool(self, use_shared):
        return self.tool_constructor


for _name in ARGUMENTS:
    for _suite in (ToolsUnitTests, ToolsIntegrationTests):
        _title = f"Test{_suite.__name__}_{_name}"
        globals()[_title] = type(_title, (Tooling, _suite), {"tool_name": _name})


class TestChatModel(ChatModelUnitTests):
    palace: Mempalace

    @property
    def chat_model_class(self):
        return ChatPalace

    @property
    def chat_model_params(self):
        return {"inner": CountingModel(persona=honest), "palace": self.palace}

    @pytest.fixture
    def model(self, use_shared):
        return ChatPalace(**self.chat_model_params)
