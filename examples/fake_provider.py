"""A provider on loopback that speaks just enough of the Anthropic Messages API.

It calls a tool once, then says what it got. With FAKE_REFUSES=1 it refuses its
first request as too long, so that the recovery of an agent can be tried.
"""

import http.server, json, os, threading


def start():
    """Serves in the background and returns its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.refusals = int(os.environ.get("FAKE_REFUSES", "0"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.server.refusals > 0:
            self.server.refusals -= 1
            self.reply(400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}})
            return
        last = json.loads(body)["messages"][-1]["content"]
        results = [block for block in last if isinstance(block, dict) and block["type"] == "tool_result"]
        if results:
            found = results[-1]["content"]
            text = found if isinstance(found, str) else "".join(part.get("text", "") for part in found)
            content, stop = [{"type": "text", "text": f"I found {len(text.splitlines())} entries."}], "end_turn"
        else:
            content = [{"type": "tool_use", "id": "call_1", "name": "list_files", "input": {"path": "."}}]
            stop = "tool_use"
        usage = {"input_tokens": len(body) // 4, "output_tokens": 20}
        self.reply(200, {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake-model",
                         "content": content, "stop_reason": stop, "usage": usage})

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass
