package dev.idempotent.idempotency.web;

import java.net.URI;
import java.net.URISyntaxException;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;

/**
 * The types of problem details: URIs that begin with the same base and end with the name
 * of the problem.
 *
 * @param baseUri the absolute URI that they begin with, with a separator at its end
 */
record ProblemTypes(String baseUri) {

	private static final String PROPERTY = "idempotent.web.problem-base-uri";

	private static final String SEPARATORS = "/#:=";

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
	 * @param detail what happened and what to do, without data that the client sent
	 */
	ProblemResponse respond(Problem problem, String detail) {
		return respond(problem, detail, problem.isRetryable());
	}

	ProblemResponse respond(Problem problem, String detail, boolean retryable) {
		return new ProblemResponse(problem, of(problem), detail, ProblemResponse.newInstance(), retryable);
	}

	String of(Problem problem) {
		return this.baseUri + problem.slug();
	}

	/**
	 * Returns whether a URI can be opened in a browser.
	 */
	static boolean isHttp(String uri) {
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
						+ "https://docs.example.com/problems/, or omit it.",
				null);
	}

}
