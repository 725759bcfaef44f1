package dev.idempotent.idempotency.web.webhook;

import java.io.ByteArrayInputStream;
import java.security.Principal;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

class SignedRequest extends HttpServletRequestWrapper {

	private final byte[] body;

	private final String sender;

	SignedRequest(HttpServletRequest request, byte[] body, String sender) {
		super(request);
		this.body = body;
		this.sender = sender;
	}

	@Override
	public Principal getUserPrincipal() {
		return () -> this.sender;
	}

	@Override
	public ServletInputStream getInputStream() {
		ByteArrayInputStream bytes = new ByteArrayInputStream(this.body);
		return new ServletInputStream() {

			@Override
			public int read() {
				return bytes.read();
			}

			@Override
			public int read(byte[] target, int offset, int length) {
				return bytes.read(target, offset, length);
			}

			@Override
			public boolean isFinished() {
				return bytes.available() == 0;
			}

			@Override
			public boolean isReady() {
				return true;
			}

			@Override
			public void setReadListener(ReadListener listener) {
				throw new UnsupportedOperationException();
			}

		};
	}

}
