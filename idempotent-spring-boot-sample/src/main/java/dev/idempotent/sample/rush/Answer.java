package dev.idempotent.sample.rush;

import java.net.http.HttpResponse;
import java.time.Duration;

import com.fasterxml.jackson.annotation.JsonProperty;
import tools.jackson.databind.json.JsonMapper;

/**
 * The response to a request of a user, or that there was none.
 *
 * @param status the status, or 0 if there was no response
 * @param body the body
 * @param replayed whether the response was stored by an earlier request
 * @param retryAfter how long the shop asks the user to wait
 * @param took the time from the request to the response
 */
record Answer(int status, String body, boolean replayed, Duration retryAfter, Duration took) {

	static Answer of(HttpResponse<String> response, Duration took) {
		return new Answer(response.statusCode(), response.body(),
				response.headers().firstValue("Idempotent-Replayed").isPresent(),
				Duration.ofSeconds(response.headers().firstValueAsLong("Retry-After").orElse(0)), took);
	}

	static Answer none(Duration took) {
		return new Answer(0, "", false, Duration.ZERO, took);
	}

	/**
	 * Whether there is no reason to repeat the request.
	 */
	boolean isFinal() {
		return switch (kind()) {
			case UNANSWERED, SHED, IN_PROGRESS -> false;
			case FAILED -> this.status < 500;
			case RESERVED, ENDED, SOLD_OUT, LIMIT_REACHED -> true;
		};
	}

	/**
	 * The kind of this answer to a request for a unit.
	 */
	Kind kind() {
		return switch (this.status) {
			case 0 -> Kind.UNANSWERED;
			case 201 -> Kind.RESERVED;
			case 409 -> conflict();
			case 410 -> Kind.ENDED;
			case 429 -> Kind.SHED;
			default -> Kind.FAILED;
		};
	}

	private Kind conflict() {
		String type = text("type");
		return switch (type.substring(type.lastIndexOf(':') + 1)) {
			case "in-progress" -> Kind.IN_PROGRESS;
			case "limit-reached" -> Kind.LIMIT_REACHED;
			case "sold-out" -> Kind.SOLD_OUT;
			default -> Kind.FAILED;
		};
	}

	/**
	 * Returns a member of the body, which must be JSON, or an empty string.
	 */
	String text(String member) {
		return JsonMapper.shared().readTree(this.body).path(member).asString("");
	}

	/**
	 * The kinds of answers to a request for a unit.
	 */
	enum Kind {

		@JsonProperty("reserved")
		RESERVED,

		@JsonProperty("ended")
		ENDED,

		@JsonProperty("soldOut")
		SOLD_OUT,

		@JsonProperty("limitReached")
		LIMIT_REACHED,

		@JsonProperty("shed")
		SHED,

		@JsonProperty("inProgress")
		IN_PROGRESS,

		@JsonProperty("unanswered")
		UNANSWERED,

		@JsonProperty("failed")
		FAILED

	}

}
