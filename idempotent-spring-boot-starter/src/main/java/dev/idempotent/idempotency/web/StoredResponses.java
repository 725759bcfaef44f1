package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.web.ApplicationHeaders.Header;
import dev.idempotent.idempotency.web.CapturedResponse.Redirect;
import dev.idempotent.idempotency.web.CapturedResponse.SentError;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.util.Assert;

/**
 * Converts a response to its stored form: without excluded headers, and as the
 * application redacts it.
 */
final class StoredResponses {

	private static final Logger logger = LoggerFactory.getLogger(StoredResponses.class);

	private final StoredHeaders headers;

	private final List<ResponseRedactor> redactors;

	private final int maxBody;

	/**
	 * Creates the conversion.
	 * @param maxBody the longest body that is stored, in bytes
	 */
	StoredResponses(StoredHeaders headers, List<ResponseRedactor> redactors, int maxBody) {
		this.headers = headers;
		this.redactors = redactors;
		this.maxBody = maxBody;
	}

	/**
	 * Returns the stored form of a response.
	 * @return {@link StoredResponse#notKept()} if the body is too long or a redactor
	 * refuses or fails
	 */
	StoredResponse of(HttpServletRequest request, CapturedResponse response) {
		List<Header> stored = new ArrayList<>(response.headers());
		stored.removeIf((header) -> !this.headers.contain(response.status(), header));
		CapturedResponse reduced = new CapturedResponse(response.status(), stored, response.body(), response.redirect(),
				response.error());
		CapturedResponse redacted = isTooLong(response) ? null : redact(request, reduced);
		if (redacted == null || isTooLong(redacted)) {
			return StoredResponse.notKept();
		}
		StoredResponse whole = CapturedResponseFormat.encode(response);
		boolean same = this.redactors.isEmpty() ? stored.size() == response.headers().size()
				: whole.equals(CapturedResponseFormat.encode(redacted));
		return same ? whole : CapturedResponseFormat.encodeDistinct(redacted);
	}

	private boolean isTooLong(CapturedResponse response) {
		return response.body().length > this.maxBody;
	}

	private @Nullable CapturedResponse redact(HttpServletRequest request, CapturedResponse response) {
		if (this.redactors.isEmpty()) {
			return response;
		}
		ReplayableResponse redacted = replayable(response);
		for (ResponseRedactor redactor : this.redactors) {
			redacted = redact(request, redacted, redactor);
			if (redacted == null) {
				return null;
			}
		}
		return captured(redacted, response);
	}

	private static @Nullable ReplayableResponse redact(HttpServletRequest request, ReplayableResponse response,
			ResponseRedactor redactor) {
		try {
			ReplayableResponse redacted = redactor.redact(request, response);
			Assert.state(redacted == null || redacted.status() == response.status(), "The status was changed");
			return redacted;
		}
		// The response must reach the client, also after an error.
		catch (Throwable ex) {
			// Its message could contain a part of the response.
			logger.error("{} failed with {}, so the response is not kept: a retry gets 409",
					redactor.getClass().getName(), ex.getClass().getName());
			logger.debug("The failure of {}", redactor.getClass().getName(), ex);
			return null;
		}
	}

	/**
	 * A copy, whose arrays and headers a redactor may change.
	 */
	private static ReplayableResponse replayable(CapturedResponse response) {
		SentError error = response.error();
		return new ReplayableResponse(response.status(), headers(response), response.body().clone(),
				(error != null) ? error.message() : null);
	}

	private static HttpHeaders headers(CapturedResponse response) {
		HttpHeaders headers = new HttpHeaders();
		response.headers().forEach((header) -> headers.add(header.name(), header.value()));
		Redirect redirect = response.redirect();
		if (redirect != null) {
			headers.set(HttpHeaders.LOCATION, redirect.location());
		}
		return headers;
	}

	private static CapturedResponse captured(ReplayableResponse redacted, CapturedResponse response) {
		SentError error = response.error();
		return new CapturedResponse(response.status(), headers(redacted.headers(), response), redacted.body(),
				redirect(redacted.headers(), response.redirect()),
				(error != null) ? new SentError(error.status(), redacted.errorMessage()) : null);
	}

	private static List<Header> headers(HttpHeaders redacted, CapturedResponse response) {
		Map<String, Boolean> replaces = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		response.headers().forEach((header) -> replaces.putIfAbsent(header.name(), header.replaces()));
		List<Header> headers = new ArrayList<>();
		redacted.forEach((name, values) -> {
			if (response.redirect() == null || !name.equalsIgnoreCase(HttpHeaders.LOCATION)) {
				boolean first = replaces.getOrDefault(name, true);
				for (String value : values) {
					add(headers, name, value, first);
					first = false;
				}
			}
		});
		return headers;
	}

	private static void add(List<Header> headers, String name, @Nullable String value, boolean replaces) {
		if (name.equalsIgnoreCase(HttpHeaders.CONTENT_TYPE)) {
			headers.add(new Header(HttpHeaders.CONTENT_TYPE, String.valueOf(value), true));
		}
		else if (value != null && ApplicationHeaders.isStored(name)) {
			headers.add(new Header(name, value, replaces));
		}
	}

	private static @Nullable Redirect redirect(HttpHeaders redacted, @Nullable Redirect redirect) {
		String location = redacted.getFirst(HttpHeaders.LOCATION);
		return (redirect == null || location == null) ? null
				: new Redirect(location, redirect.status(), redirect.clearBuffer());
	}

}
