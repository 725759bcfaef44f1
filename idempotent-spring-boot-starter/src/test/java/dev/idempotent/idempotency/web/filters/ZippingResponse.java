package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.util.zip.GZIPOutputStream;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;

/**
 * Compresses the body if its content type is text, as such filters do.
 */
class ZippingResponse extends HttpServletResponseWrapper {

	private boolean zips;

	private @Nullable GZIPOutputStream zipped;

	ZippingResponse(HttpServletResponse response) {
		super(response);
	}

	@Override
	public void setContentType(String type) {
		super.setContentType(type);
		if (type.startsWith("text/") && !this.zips) {
			this.zips = true;
			addHeader("Vary", "Accept-Encoding");
			addHeader("Content-Encoding", "gzip");
		}
	}

	@Override
	public void setContentLength(int length) {
		// The compressed length is different.
	}

	@Override
	public ServletOutputStream getOutputStream() throws IOException {
		if (!this.zips) {
			return super.getOutputStream();
		}
		GZIPOutputStream out = new GZIPOutputStream(super.getOutputStream());
		this.zipped = out;
		return new ServletOutputStream() {

			@Override
			public boolean isReady() {
				return true;
			}

			@Override
			public void setWriteListener(WriteListener listener) {
				throw new IllegalStateException();
			}

			@Override
			public void write(int b) throws IOException {
				out.write(b);
			}

		};
	}

	void finish() throws IOException {
		if (this.zipped != null) {
			this.zipped.finish();
		}
	}

}
