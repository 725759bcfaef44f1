package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * An error that the application has sent, and that a wrapper of another filter has
 * answered instead of the container.
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
