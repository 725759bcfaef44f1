package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.web.ApplicationHeaders.Header;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.util.AlternativeJdkIdGenerator;
import org.springframework.util.IdGenerator;
import tools.jackson.databind.json.JsonMapper;

/**
 * A response with the problem details of
 * <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>.
 *
 * @param problem the problem
 * @param type its URI
 * @param detail what happened and what to do
 * @param instance a URI that identifies this occurrence, also in the log
 * @param retryable whether the same request, sent again with the same key, can succeed
 */
record ProblemResponse(Problem problem, String type, String detail, String instance, boolean retryable) {

	/**
	 * The shortest time that the header can state: most handlers have finished by then.
	 */
	private static final String RETRY_AFTER_SECONDS = "1";

	private static final JsonMapper json = JsonMapper.builder().build();

	/**
	 * Not the path of the request, which may contain the key.
	 */
	private static final IdGenerator instances = new AlternativeJdkIdGenerator();

	static String newInstance() {
		return "urn:uuid:" + instances.generateId();
	}

	void send(HttpServletResponse response) throws IOException {
		byte[] body = body();
		response.setStatus(this.problem.status().value());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		if (this.retryable) {
			response.setHeader(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS);
		}
		if (isLinked()) {
			response.addHeader(HttpHeaders.LINK, link());
		}
		response.setContentLength(body.length);
		response.getOutputStream().write(body);
	}

	/**
	 * Creates the response as it is stored. A stored response is final.
	 */
	CapturedResponse capture() {
		List<Header> headers = new ArrayList<>();
		headers.add(new Header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE, true));
		if (isLinked()) {
			headers.add(new Header(HttpHeaders.LINK, link(), false));
		}
		return new CapturedResponse(this.problem.status().value(), headers, body(), null, null);
	}

	private boolean isLinked() {
		return ProblemTypes.isHttp(this.type);
	}

	private String link() {
		return "<" + this.type + ">; rel=\"describedby\"";
	}

	private byte[] body() {
		Map<String, Object> members = new LinkedHashMap<>();
		members.put("type", this.type);
		members.put("title", this.problem.title());
		members.put("status", this.problem.status().value());
		members.put("detail", this.detail);
		members.put("instance", this.instance);
		members.put("retryable", this.retryable);
		return json.writeValueAsBytes(members);
	}

}
