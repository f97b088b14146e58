#!/usr/bin/env python3
"""The loop of an agent, to copy: append, GetContext, call the model, append its answer.

    pip install -r examples/requirements.txt
    concertina serve --data DIR &
    python examples/agent.py "What is in this folder?"

Without ANTHROPIC_BASE_URL a fake provider on loopback answers (fake_provider.py).
Set ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY and MODEL to talk to a real one.
"""

import json, os, pathlib, sys, tempfile, urllib.error, urllib.request, uuid

import grpc, grpc_tools
from grpc_tools import protoc

import fake_provider

# Stubs, made from the contract at start; a real project makes them once.
proto, out = pathlib.Path(__file__).resolve().parent.parent / "proto", tempfile.mkdtemp()
well_known = pathlib.Path(grpc_tools.__file__).parent / "_proto"
files = [str(path) for path in proto.rglob("*.proto")]
protoc.main(["protoc", f"-I{proto}", f"-I{well_known}", f"--python_out={out}", f"--grpc_python_out={out}", *files])
sys.path.insert(0, out)
from concertina.v1 import message_pb2, session_pb2, session_service_pb2 as api, session_service_pb2_grpc  # noqa: E402

ANTHROPIC = message_pb2.WIRE_FORMAT_ANTHROPIC_MESSAGES
TOOLS = [{"name": "list_files", "description": "Lists the files of a folder.",
          "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}]

# Stock clients take 4 MiB; a context may be larger.
channel = grpc.insecure_channel(os.environ.get("CONCERTINA_SERVER", "127.0.0.1:7437").removeprefix("http://"),
                                options=[("grpc.max_receive_message_length", 64 << 20)])
sessions = session_service_pb2_grpc.SessionServiceStub(channel)
model = session_pb2.Model(name=os.environ.get("MODEL", "fake-model"), context_window=200_000)
base = os.environ.get("ANTHROPIC_BASE_URL") or fake_provider.start()


def append(session, message, fingerprint=""):
    """Stores a message; the request id makes a retry of it safe."""
    json_bytes = message if isinstance(message, bytes) else json.dumps(message).encode()
    sessions.AppendTurn(api.AppendTurnRequest(
        session_id=session, payload=api.ProviderPayload(format=ANTHROPIC, json=json_bytes),
        context_fingerprint=fingerprint, request_id=str(uuid.uuid4())))


def call_model(context):
    """Sends the context as it is: the same bytes as last time are what a provider caches."""
    body = b'{"model":%s,"max_tokens":1024' % json.dumps(model.name).encode()
    for key, value in ((b"system", context.system_json), (b"tools", context.tools_json)):
        body += b',"%s":%s' % (key, value) if value else b""  # empty: the session has none
    body += b',"messages":[%s]}' % b",".join(context.messages_json)
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01",
               "x-api-key": os.environ.get("ANTHROPIC_API_KEY", "none")}
    with urllib.request.urlopen(urllib.request.Request(f"{base}/v1/messages", body, headers)) as answer:
        return answer.read()


def smaller(session, refused):
    """The provider refused: takes the next step of the recovery chain."""
    try:
        return sessions.RecoverContext(api.RecoverContextRequest(
            session_id=session, format=ANTHROPIC, refused_fingerprint=refused.fingerprint)).context
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.UNIMPLEMENTED:
            raise
        window = session_pb2.Model(context_window=refused.budget.window * 8 // 10)  # a server without recovery
        return sessions.GetContext(api.GetContextRequest(session_id=session, format=ANTHROPIC, model=window)).context


def run_turn(session, request):
    append(session, {"role": "user", "content": request})
    while True:
        context = sessions.GetContext(api.GetContextRequest(session_id=session, format=ANTHROPIC)).context
        try:
            answer = call_model(context)
        except urllib.error.HTTPError as refusal:
            if refusal.code not in (400, 413):
                raise
            answer = call_model(context := smaller(session, context))
        append(session, answer, context.fingerprint)  # the whole response: its usage calibrates the counting
        blocks = json.loads(answer)["content"]
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if not calls:
            return "".join(block.get("text", "") for block in blocks)
        append(session, {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call["id"], "content": "\n".join(sorted(os.listdir(call["input"]["path"])))}
            for call in calls]})


session = sessions.CreateSession(api.CreateSessionRequest(model=model)).session.id
for item in (session_pb2.ContextItem(name="system", placement="PLACEMENT_SYSTEM", content=b"You are a helpful agent."),
             session_pb2.ContextItem(name="tools", placement="PLACEMENT_TOOLS", format=ANTHROPIC, content=json.dumps(TOOLS).encode())):
    sessions.SetContextItem(api.SetContextItemRequest(session_id=session, item=item))
print(run_turn(session, " ".join(sys.argv[1:]) or "What is in this folder?"))
print(f"session {session}", file=sys.stderr)
