package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import dev.idempotent.idempotency.web.ApplicationHeaders.Header;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * The responses of this library itself, as problem details of
 * <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>, each with a stable type.
 */
enum Problem {

	KEY_MISSING(HttpStatus.BAD_REQUEST, "Idempotency key missing"),

	KEY_MALFORMED(HttpStatus.BAD_REQUEST, "Idempotency key malformed"),

	REQUEST_MALFORMED(HttpStatus.BAD_REQUEST, "Request body malformed"),

	REQUEST_TOO_LARGE(HttpStatus.CONTENT_TOO_LARGE, "Request body too large"),

	IN_PROGRESS(HttpStatus.CONFLICT, "Request in progress"),

	SAGA_COMPENSATED(HttpStatus.UNPROCESSABLE_CONTENT, "Work undone"),

	SAGA_HALTED(HttpStatus.CONFLICT, "Work halted"),

	RESPONSE_NOT_KEPT(HttpStatus.CONFLICT, "Completed, response not kept"),

	KEY_REUSED(HttpStatus.UNPROCESSABLE_CONTENT, "Idempotency key reused"),

	CANCELLED(HttpStatus.GONE, "Action cancelled"),

	CALLER_REQUIRED(HttpStatus.FORBIDDEN, "Caller required"),

	TOKEN_REFUSED(HttpStatus.FORBIDDEN, "Token refused"),

	TOKEN_EXPIRED(HttpStatus.GONE, "Token expired"),

	OVERLOADED(HttpStatus.SERVICE_UNAVAILABLE, "Too many large requests"),
	CALLER_UNKNOWN(HttpStatus.INTERNAL_SERVER_ERROR, "Caller unknown"),

	STORE_UNREACHABLE(HttpStatus.SERVICE_UNAVAILABLE, "Idempotency store unreachable"),

	STORE_FAILED(HttpStatus.INTERNAL_SERVER_ERROR, "Idempotency store failed"),

	ROLLED_BACK(HttpStatus.INTERNAL_SERVER_ERROR, "Work rolled back"),

	RESPONSE_TOO_LARGE(HttpStatus.INTERNAL_SERVER_ERROR, "Response too large"),

	OUTCOME_UNKNOWN(HttpStatus.SERVICE_UNAVAILABLE, "Outcome unknown");

	private static final String TYPE_PREFIX = "urn:problem-type:idempotency:";

	private static final JsonMapper json = JsonMapper.builder().build();

	private final HttpStatus status;

	private final String title;

	Problem(HttpStatus status, String title) {
		this.status = status;
		this.title = title;
	}

	void send(HttpServletResponse response, String detail) throws IOException {
		byte[] body = body(detail);
		response.setStatus(this.status.value());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.getOutputStream().write(body);
	}

	/**
	 * Creates the response as it is stored.
	 */
	CapturedResponse capture(String detail) {
		return new CapturedResponse(this.status.value(),
				List.of(new Header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE, true)),
				body(detail), null, null);
	}

	private byte[] body(String detail) {
		Map<String, Object> members = new LinkedHashMap<>();
		members.put("type", TYPE_PREFIX + name().toLowerCase(Locale.ROOT).replace('_', '-'));
		members.put("title", this.title);
		members.put("status", this.status.value());
		members.put("detail", detail);
		return json.writeValueAsBytes(members);
	}

	/**
	 * Asks the client to retry after one second, the shortest time that the header can
	 * state: most handlers have finished by then.
	 */
	void sendRetryable(HttpServletResponse response, String detail) throws IOException {
		response.setHeader(HttpHeaders.RETRY_AFTER, "1");
		send(response, detail);
	}

}
