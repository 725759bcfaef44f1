package dev.idempotent.sample.crash;

import java.net.http.HttpResponse;
import java.util.Objects;

import com.jayway.jsonpath.JsonPath;
import org.jspecify.annotations.Nullable;

/**
 * What an instance has answered.
 */
record Answer(int status, String location, String body, boolean replayed) {

	static Answer of(HttpResponse<String> response) {
		return new Answer(response.statusCode(), response.headers().firstValue("Location").orElse(""), response.body(),
				response.headers().firstValue("Idempotent-Replayed").isPresent());
	}

	/**
	 * Whether the client has no reason to ask again.
	 */
	boolean isFinal() {
		return this.status < 500 && !(this.status == 409 && this.body.contains("in-progress"));
	}

	boolean says(Answer other) {
		return this.status == other.status && this.location.equals(other.location) && this.body.equals(other.body);
	}

	/**
	 * Whether this is the answer of the one who has made the order.
	 */
	boolean names(String orderId) {
		return this.status == 201 && this.location.equals("/api/orders/" + orderId)
				&& JsonPath.read(this.body, "$.orderId").equals(orderId);
	}

	/**
	 * The order that this answer names, or {@code null} if it names none.
	 */
	@Nullable String orderId() {
		return (this.status == 201) ? JsonPath.read(this.body, "$.orderId") : null;
	}

	/**
	 * Distinguishes answers without showing them.
	 */
	String digest() {
		return Integer.toHexString(Objects.hash(this.status, this.location, this.body));
	}

}
