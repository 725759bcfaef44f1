package dev.idempotent.idempotency.web;

import java.security.Principal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import dev.idempotent.token.OneTimeTokens;
import dev.idempotent.token.TokenCheck;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Reads the one-time tokens of requests, from the header or a form field, and verifies
 * them. A token in the URL is refused: it would get into logs.
 */
final class RequestTokens {

	/**
	 * The form field that carries a token.
	 */
	static final String FIELD = "_idempotency";

	/**
	 * What to do with a form whose token is not accepted: an earlier request may have had
	 * an accepted one.
	 */
	static final String LOOK_UP_OR_RELOAD = "If you have sent this form before, it may have been processed: look its "
			+ "result up. If you have not, load the page again.";

	private final Supplier<OneTimeTokens> tokens;

	private final Supplier<@Nullable Principal> authenticated;

	/**
	 * Creates a reader.
	 * @param tokens verifies the tokens; called if a request has one
	 * @param authenticated returns the caller of the current thread, or {@code null};
	 * used if the request has no principal
	 */
	RequestTokens(Supplier<OneTimeTokens> tokens, Supplier<@Nullable Principal> authenticated) {
		this.tokens = tokens;
		this.authenticated = authenticated;
	}

	/**
	 * Reads and verifies the token of a request.
	 * @return the result: the token is valid or has expired
	 * @throws RefusedRequestException if the token is missing, malformed, ambiguous or
	 * not authentic
	 */
	TokenCheck check(BufferedRequest request, KeyHeader header, String purpose) {
		TokenCheck check = this.tokens.get().verify(text(request, header), purpose, caller(request));
		return switch (check.outcome()) {
			case VALID, EXPIRED -> check;
			case MALFORMED -> throw malformed(
					"Nothing was done for this request: the value is not a one-time token. " + LOOK_UP_OR_RELOAD);
			case REFUSED -> throw Problem.TOKEN_REFUSED.refusal();
		};
	}

	private @Nullable Principal caller(HttpServletRequest request) {
		Principal principal = request.getUserPrincipal();
		return (principal != null) ? principal : this.authenticated.get();
	}

	private static String text(BufferedRequest request, KeyHeader header) {
		if (RequestUrl.query(request).containsKey(FIELD)) {
			throw malformed("A token must not be in the URL. Send it in the form or in a header.");
		}
		Set<String> values = new LinkedHashSet<>(formValues(request));
		String sent = header.read(request);
		if (sent != null) {
			values.add(sent);
		}
		if (values.isEmpty()) {
			throw Problem.KEY_MISSING
				.refusal("This operation needs a one-time token in the form field " + FIELD + " or in the header "
						+ header.name() + ". Nothing was done for this request. " + LOOK_UP_OR_RELOAD);
		}
		if (values.size() > 1) {
			throw malformed("The request has two different tokens. Send one.");
		}
		return values.iterator().next();
	}

	/**
	 * Reads the field of a form that the container has parsed. The parameters of the
	 * request include the parameters of the URL, which must not have this field.
	 */
	private static List<String> formValues(BufferedRequest request) {
		boolean parsed = request.form() != null || request.parts() != null;
		String[] values = parsed ? request.getParameterValues(FIELD) : null;
		return (values != null) ? List.of(values) : List.of();
	}

	private static RefusedRequestException malformed(String detail) {
		return Problem.KEY_MALFORMED.refusal(detail);
	}

}
