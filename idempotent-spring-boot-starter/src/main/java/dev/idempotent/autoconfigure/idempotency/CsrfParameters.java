package dev.idempotent.autoconfigure.idempotency;

import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;

/**
 * The parameter that Spring Security adds to each rendering of a form, with another value
 * each time, if the application has it.
 */
final class CsrfParameters {

	private static final boolean withSecurity = ClassUtils.isPresent("org.springframework.security.web.csrf.CsrfToken",
			CsrfParameters.class.getClassLoader());

	/**
	 * What the value of such a parameter looks like, masked or not, unless the
	 * application has a repository of its own.
	 */
	private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9+/=_.~-]{32,}");

	private CsrfParameters() {
	}

	/**
	 * Returns the name of the parameter.
	 * @param request the request, whose form, if any, the container has parsed
	 * @return {@code null} if there is none
	 */
	static @Nullable String nameIn(HttpServletRequest request) {
		return (withSecurity && mayHaveToken(request)) ? Tokens.parameter(request) : null;
	}

	/**
	 * Spring Security defers loading its token, and creates one, with a session or a
	 * cookie, if none was stored: a client without either has none, and needs none where
	 * the protection is off. Cookies alone may be others, so a value has to look like a
	 * token, too.
	 */
	private static boolean mayHaveToken(HttpServletRequest request) {
		Collection<String[]> parameters = parameters(request);
		if (parameters.isEmpty()) {
			return false;
		}
		return request.getSession(false) != null || (request.getCookies() != null
				&& parameters.stream().flatMap(Stream::of).anyMatch((value) -> TOKEN.matcher(value).matches()));
	}

	private static Collection<String[]> parameters(HttpServletRequest request) {
		try {
			return request.getParameterMap().values();
		}
		catch (RuntimeException ex) {
			// The URL has more than the container parses, as a handler will find.
			return List.of();
		}
	}

	/**
	 * Loaded only if its Spring Security class is present.
	 */
	private static final class Tokens {

		static @Nullable String parameter(HttpServletRequest request) {
			return (request.getAttribute(CsrfToken.class.getName()) instanceof CsrfToken token)
					? token.getParameterName() : null;
		}

	}

}
