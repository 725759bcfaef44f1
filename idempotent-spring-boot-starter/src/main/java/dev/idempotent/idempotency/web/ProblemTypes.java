package dev.idempotent.idempotency.web;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.web.CapturedResponse.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.util.AlternativeJdkIdGenerator;
import org.springframework.util.IdGenerator;
import tools.jackson.databind.json.JsonMapper;

/**
 * Creates responses with the problem details of
 * <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>. Their types are URIs
 * that begin with the same base and end with the name of the problem.
 *
 * @param baseUri the absolute URI that they begin with, with a separator at its end
 * @param renderer renders the responses instead, or {@code null}
 */
record ProblemTypes(String baseUri, @Nullable ProblemRenderer renderer) {

	private static final Logger logger = LoggerFactory.getLogger(ProblemTypes.class);

	private static final String PROPERTY = "idempotent.web.problem-base-uri";

	private static final String SEPARATORS = "/#:=";

	/**
	 * The shortest time that the header can state: most handlers have finished by then.
	 */
	private static final String RETRY_AFTER_SECONDS = "1";

	private static final JsonMapper json = JsonMapper.builder().build();

	private static final IdGenerator instances = new AlternativeJdkIdGenerator();

	/**
	 * Creates types.
	 * @throws IdempotentConfigurationException if the base is not such a URI
	 */
	ProblemTypes {
		URI uri = parse(baseUri);
		if (uri == null || !uri.isAbsolute() || (isHttp(baseUri) && uri.getHost() == null)) {
			throw mistake("'" + baseUri + "' is not an absolute URI");
		}
		if (uri.getRawUserInfo() != null) {
			// The message does not contain the value, which may include a password.
			throw mistake("the URI contains user information, which every client would see");
		}
		if (SEPARATORS.indexOf(baseUri.charAt(baseUri.length() - 1)) < 0) {
			throw mistake("'" + baseUri + "' does not end with one of " + SEPARATORS
					+ ", and the name of the problem is appended to it");
		}
	}

	/**
	 * Creates the response to one occurrence of a problem.
	 */
	CapturedResponse respond(Problem problem) {
		return respond(problem, problem.detail(), problem.isRetryable(), newInstance());
	}

	/**
	 * Creates the response to one occurrence of a problem.
	 * @param detail what happened and what to do, without data that the client sent
	 * @param retryable whether the same request, sent again with the same key, can
	 * succeed
	 * @param instance identifies the occurrence, also in the log
	 */
	CapturedResponse respond(Problem problem, String detail, boolean retryable, String instance) {
		String type = of(problem);
		List<Header> headers = new ArrayList<>();
		headers.add(new Header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE, true));
		if (retryable) {
			headers.add(new Header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS, true));
		}
		if (isHttp(type)) {
			headers.add(new Header(HttpHeaders.LINK, "<" + type + ">; rel=\"describedby\"", false));
		}
		Map<String, Object> members = new LinkedHashMap<>();
		members.put("type", type);
		members.put("title", problem.title());
		members.put("status", problem.status());
		members.put("detail", detail);
		members.put("instance", instance);
		members.put("retryable", retryable);
		CapturedResponse standard = new CapturedResponse(problem.status(), headers, json.writeValueAsBytes(members),
				null, null);
		return (this.renderer != null) ? render(this.renderer, problem, detail, retryable, instance, standard)
				: standard;
	}

	private CapturedResponse render(ProblemRenderer application, Problem problem, String detail, boolean retryable,
			String instance, CapturedResponse standard) {
		ProblemDetail described = ProblemDetail.forStatusAndDetail(HttpStatusCode.valueOf(problem.status()), detail);
		described.setType(URI.create(of(problem)));
		described.setTitle(problem.title());
		described.setInstance(URI.create(instance));
		described.setProperty("retryable", retryable);
		try {
			ResponseEntity<String> rendered = application.render(described);
			if (rendered.getStatusCode().value() >= HttpStatus.BAD_REQUEST.value()) {
				return captured(rendered, retryable);
			}
			logger.error(
					"{} has rendered the problem {} ({}) with the status {}, which is below 400, so the default was sent",
					application.getClass().getName(), problem.slug(), instance, rendered.getStatusCode().value());
		}
		// The client must learn that its request was refused.
		catch (Throwable ex) {
			logger.error("{} could not render the problem {} ({}), so the default was sent",
					application.getClass().getName(), problem.slug(), instance, ex);
		}
		return standard;
	}

	private static CapturedResponse captured(ResponseEntity<String> rendered, boolean retryable) {
		List<Header> headers = new ArrayList<>();
		rendered.getHeaders().forEach((name, values) -> {
			if (CapturedResponse.canStore(name) || name.equalsIgnoreCase(HttpHeaders.CONTENT_TYPE)) {
				values.forEach((value) -> headers.add(new Header(name, value, values.size() == 1)));
			}
		});
		if (retryable && !rendered.getHeaders().containsHeader(HttpHeaders.RETRY_AFTER)) {
			headers.add(new Header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS, true));
		}
		MediaType type = rendered.getHeaders().getContentType();
		Charset charset = (type != null && type.getCharset() != null) ? type.getCharset() : StandardCharsets.UTF_8;
		String body = Objects.requireNonNullElse(rendered.getBody(), "");
		return new CapturedResponse(rendered.getStatusCode().value(), headers, body.getBytes(charset), null, null);
	}

	/**
	 * Creates a URI of an occurrence. Not the path of the request, which may contain the
	 * key.
	 */
	static String newInstance() {
		return "urn:uuid:" + instances.generateId();
	}

	String of(Problem problem) {
		return this.baseUri + problem.slug();
	}

	/**
	 * Returns whether a URI can be opened in a browser.
	 */
	private static boolean isHttp(String uri) {
		return uri.regionMatches(true, 0, "http:", 0, 5) || uri.regionMatches(true, 0, "https:", 0, 6);
	}

	/**
	 * It becomes part of a header, so it must be ASCII.
	 */
	private static @Nullable URI parse(String text) {
		try {
			URI uri = new URI(text);
			return uri.toASCIIString().equals(text) ? uri : null;
		}
		catch (URISyntaxException ex) {
			return null;
		}
	}

	private static IdempotentConfigurationException mistake(String mistake) {
		return new IdempotentConfigurationException(PROPERTY + ": " + mistake + ".",
				"Set it to where your documentation describes the problems, such as "
						+ "https://docs.example.com/problems/, or omit it.");
	}

}
