package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.http.HttpServletResponse;
import org.springframework.util.Assert;

/**
 * A redirect that has yet to be sent. The container makes its location absolute or leaves
 * it as it is, and wrappers of other filters may rewrite it, as they would without us.
 *
 * @param location the location as the application stated it
 * @param status the status, such as 302
 * @param clearBuffer whether the body written before is dropped
 */
record Redirect(String location, int status, boolean clearBuffer) {

	Redirect {
		Assert.notNull(location, "A redirect needs a location");
	}

	/**
	 * Sends the redirect by the most common method that says the same, because a wrapper
	 * may have overridden only that one.
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
