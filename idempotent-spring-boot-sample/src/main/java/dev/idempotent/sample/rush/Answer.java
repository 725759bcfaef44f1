package dev.idempotent.sample.rush;

import java.net.http.HttpResponse;
import java.time.Duration;

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
		Duration retryAfter = Duration.ofSeconds(response.headers().firstValueAsLong("Retry-After").orElse(0));
		return new Answer(response.statusCode(), response.body(),
				response.headers().firstValue("Idempotent-Replayed").isPresent(), retryAfter, took);
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

	Kind kind() {
		return switch (this.status) {
			case 0 -> Kind.UNANSWERED;
			case 200, 201 -> Kind.RESERVED;
			case 409 -> conflict();
			case 410 -> Kind.ENDED;
			case 429 -> Kind.SHED;
			default -> Kind.FAILED;
		};
	}

	private Kind conflict() {
		String type = text("type");
		if (type.endsWith("in-progress")) {
			return Kind.IN_PROGRESS;
		}
		if (type.endsWith("limit-reached")) {
			return Kind.LIMIT_REACHED;
		}
		return type.endsWith("sold-out") ? Kind.SOLD_OUT : Kind.FAILED;
	}

	/**
	 * Returns a member of the body, which must be JSON, or an empty string.
	 */
	String text(String member) {
		return JsonMapper.shared().readTree(this.body).path(member).asString("");
	}

	/**
	 * What an answer to a request for a unit says.
	 */
	enum Kind {

		/**
		 * The user has a unit.
		 */
		RESERVED("reserved"),

		/**
		 * The user had a unit, which was given back.
		 */
		ENDED("ended"),

		/**
		 * All units are taken.
		 */
		SOLD_OUT("soldOut"),

		/**
		 * The user has as many units as the sale allows.
		 */
		LIMIT_REACHED("limitReached"),

		/**
		 * The shop has too many requests.
		 */
		SHED("shed"),

		/**
		 * An equal request is being processed.
		 */
		IN_PROGRESS("inProgress"),

		/**
		 * No response came.
		 */
		UNANSWERED("unanswered"),

		/**
		 * Any other response.
		 */
		FAILED("failed");

		private final String member;

		Kind(String member) {
			this.member = member;
		}

		/**
		 * The name of this kind in JSON.
		 */
		String member() {
			return this.member;
		}

	}

}
