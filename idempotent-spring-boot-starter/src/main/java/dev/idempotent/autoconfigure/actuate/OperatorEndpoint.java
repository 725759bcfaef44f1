package dev.idempotent.autoconfigure.actuate;

import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.IdempotencyKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.dao.DataAccessException;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * An endpoint by which operators change what is stored. Reads the parameters of a
 * request, explains why one is refused, and publishes an audit event for each change. No
 * message has a value of the request.
 */
abstract class OperatorEndpoint {

	/**
	 * The outcome of a change that may have been made before a failure.
	 */
	static final String UNKNOWN = "UNKNOWN";

	private static final Logger logger = LoggerFactory.getLogger(OperatorEndpoint.class);

	private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

	/**
	 * The attribute of a request to Spring MVC, which need not be present.
	 */
	private static final String PATH_VARIABLES = "org.springframework.web.servlet.HandlerMapping.uriTemplateVariables";

	/**
	 * What the tables keep of a note.
	 */
	private static final int MAX_NOTE = 1000;

	private static final int DEFAULT_LIMIT = 50;

	private static final int MAX_LIMIT = 500;

	private static final int CONFLICT = 409;

	/**
	 * Answers a request.
	 * @param work returns the body, or throws a {@link Refusal}
	 */
	final WebEndpointResponse<?> answer(Supplier<?> work) {
		try {
			return new WebEndpointResponse<>(work.get());
		}
		catch (Refusal ex) {
			return ex.toResponse();
		}
		catch (RuntimeException ex) {
			Refusal refusal = refusal(ex);
			if (refusal == null) {
				throw ex;
			}
			logger.debug("{} could not read or change what is stored", getClass().getSimpleName(), ex);
			return refusal.toResponse();
		}
	}

	/**
	 * Explains a failure of the store or of the database.
	 * @return {@code null} for a failure of another kind
	 */
	abstract @Nullable Refusal refusal(RuntimeException failure);

	/**
	 * Explains a failure of the database.
	 * @param action what to do
	 * @return {@code null} for a failure of another kind
	 */
	static @Nullable Refusal ofDatabase(RuntimeException failure, String action) {
		return (failure instanceof DataAccessException) ? new Refusal(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
				"The database failed: " + failure.getClass().getSimpleName(), action) : null;
	}

	static void audit(ApplicationEventPublisher publisher, SecurityContext operator, String type,
			Map<String, Object> data) {
		Principal principal = operator.getPrincipal();
		publisher.publishEvent(
				new AuditApplicationEvent(new AuditEvent((principal != null) ? principal.getName() : "", type, data)));
	}

	static Refusal invalid(String problem, String action) {
		return new Refusal(WebEndpointResponse.STATUS_BAD_REQUEST, problem, action);
	}

	static Refusal absent(String problem, String action) {
		return new Refusal(WebEndpointResponse.STATUS_NOT_FOUND, problem, action);
	}

	static Refusal conflict(String problem, String action) {
		return new Refusal(CONFLICT, problem, action);
	}

	/**
	 * Reads a digest from the path.
	 * @param of what it is the digest or id of
	 * @param action where to take it from
	 */
	static IdempotencyKey digest(String digest, String of, String action) {
		if (!DIGEST.matcher(digest).matches()) {
			throw invalid("The path has no " + of + ": 64 lower-case hexadecimal digits", action);
		}
		return new IdempotencyKey(digest);
	}

	/**
	 * Reads why an operator makes a change. What is blank is absent.
	 */
	static @Nullable String note(@Nullable String note) {
		if (note != null && note.length() > MAX_NOTE) {
			throw invalid("The 'note' is too long", "Shorten it to at most " + MAX_NOTE + " characters");
		}
		return (note != null && !note.isBlank()) ? note : null;
	}

	/**
	 * Refuses a request whose body or query replaces a part of its path, which Spring
	 * Boot permits: only the path is authorized and logged.
	 */
	static void requireInPath(String... parts) {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		if (request != null
				&& request.getAttribute(PATH_VARIABLES, RequestAttributes.SCOPE_REQUEST) instanceof Map<?, ?> path
				&& !path.values().containsAll(List.of(parts))) {
			throw invalid("The body or the query of the request contains a part of its path", "Omit it there");
		}
	}

	/**
	 * Refuses an empty value, which may be the result of an unset variable, and one that
	 * PostgreSQL does not compare.
	 */
	static @Nullable String stated(String name, @Nullable String value) {
		if (value != null && value.isBlank()) {
			throw invalid("The parameter '" + name + "' is empty", "Set it or omit it");
		}
		if (value != null && value.indexOf('\0') >= 0) {
			throw invalid("The parameter '" + name + "' contains the character NUL", "Remove it from the value");
		}
		return value;
	}

	/**
	 * Reads the size of a page.
	 */
	static int limit(@Nullable String limit) {
		return (int) number("limit", limit, DEFAULT_LIMIT, 1, MAX_LIMIT);
	}

	static long number(String name, @Nullable String value, long ifMissing, long min, long max) {
		try {
			long number = (value != null) ? Long.parseLong(value) : ifMissing;
			if (number >= min && number <= max) {
				return number;
			}
		}
		catch (NumberFormatException ex) {
			// Reported below.
		}
		throw invalid("The parameter '" + name + "' is not a valid number",
				"Specify a number of at least " + min + ((max < Long.MAX_VALUE) ? " and at most " + max : ""));
	}

	/**
	 * Answers a request with a status other than 200.
	 */
	static final class Refusal extends RuntimeException {

		private final int status;

		private final String action;

		/**
		 * Creates a refusal.
		 * @param status the status of the response
		 * @param problem what is wrong, without values from the request
		 * @param action what to do
		 */
		Refusal(int status, String problem, String action) {
			super(problem);
			this.status = status;
			this.action = action;
		}

		private WebEndpointResponse<Map<String, @Nullable String>> toResponse() {
			Map<String, @Nullable String> body = new LinkedHashMap<>();
			body.put("problem", getMessage());
			body.put("action", this.action);
			return new WebEndpointResponse<>(body, this.status);
		}

	}

}
