package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.idempotent.idempotency.web.ApplicationHeaders.Header;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.util.Assert;

/**
 * An HTTP response as it is stored: the status, the headers that are valid on a replay,
 * and the body before compression.
 *
 * @param status the status, such as 201
 * @param headers the headers in the order set
 * @param body the body
 * @param redirect the redirect that is sent with it, if any
 * @param error the error that another filter has handled, and will handle again, if any
 */
@SuppressWarnings("ArrayRecordComponent")
record CapturedResponse(int status, List<Header> headers, byte[] body, @Nullable Redirect redirect,
		@Nullable SentError error) {

	static final String REPLAYED = "Idempotent-Replayed";

	/**
	 * Captures a response.
	 * @param response its status and content type
	 * @param applicationHeaders its other headers
	 * @param body its body
	 * @param redirect the redirect that is yet to be sent with it, if any
	 * @param error the error that another filter has handled, if any
	 */
	static CapturedResponse of(HttpServletResponse response, ApplicationHeaders applicationHeaders, byte[] body,
			@Nullable Redirect redirect, @Nullable SentError error) {
		List<Header> headers = new ArrayList<>();
		if (response.getContentType() != null) {
			headers.add(new Header(HttpHeaders.CONTENT_TYPE, response.getContentType(), true));
		}
		headers.addAll(applicationHeaders.list());
		return new CapturedResponse(response.getStatus(), headers, body, redirect, error);
	}

	/**
	 * Sends the response again. Headers are set or added, as the handler did.
	 */
	void replayTo(HttpServletResponse response) throws IOException {
		response.setStatus(this.status);
		replayHeaders(response);
		response.setHeader(REPLAYED, "true");
		if (this.body.length > 0) {
			if (this.redirect == null) {
				response.setContentLength(this.body.length);
			}
			response.getOutputStream().write(this.body);
		}
		if (this.redirect != null) {
			this.redirect.sendTo(response);
		}
		if (this.error != null) {
			this.error.sendTo(response);
		}
	}

	/**
	 * Does not add a value that is already present, such as one of {@code Vary} that was
	 * set by CORS processing.
	 */
	private void replayHeaders(HttpServletResponse response) {
		Map<String, Collection<String>> present = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		for (Header header : this.headers) {
			if (header.name().equals(HttpHeaders.CONTENT_TYPE)) {
				response.setContentType(header.value());
			}
			else if (header.replaces()) {
				response.setHeader(header.name(), header.value());
			}
			else if (!present.computeIfAbsent(header.name(), (name) -> List.copyOf(response.getHeaders(name)))
				.contains(header.value())) {
				response.addHeader(header.name(), header.value());
			}
		}
	}

	/**
	 * A redirect that is sent as the last step, so that the container and the wrappers of
	 * other filters may still rewrite its location.
	 *
	 * @param location the location as set by the application
	 * @param status the status, such as 302
	 * @param clearBuffer whether the body written before is discarded
	 */
	record Redirect(String location, int status, boolean clearBuffer) {

		Redirect {
			Assert.notNull(location, "A redirect needs a location");
		}

		/**
		 * Sends the redirect by the most common method with this meaning, because a
		 * wrapper may have overridden only that one.
		 */
		void sendTo(HttpServletResponse response) throws IOException {
			if (!this.clearBuffer) {
				response.sendRedirect(this.location, this.status, false);
			}
			else if (this.status == HttpServletResponse.SC_FOUND) {
				response.sendRedirect(this.location);
			}
			else {
				response.sendRedirect(this.location, this.status);
			}
		}

	}

	/**
	 * An error sent by the application and handled by a wrapper of another filter instead
	 * of the container.
	 *
	 * @param status the status, such as 404
	 * @param message the message, if any
	 */
	record SentError(int status, @Nullable String message) {

		void sendTo(HttpServletResponse response) throws IOException {
			if (this.message == null) {
				response.sendError(this.status);
			}
			else {
				response.sendError(this.status, this.message);
			}
		}

	}

}
