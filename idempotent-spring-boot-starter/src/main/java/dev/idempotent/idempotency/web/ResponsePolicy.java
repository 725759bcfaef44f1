package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.CommitOn;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.web.CapturedResponse.Header;
import dev.idempotent.idempotency.web.CapturedResponse.Redirect;
import dev.idempotent.idempotency.web.CapturedResponse.SentError;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.util.Assert;

/**
 * Decides which responses are stored, and what of them: without excluded headers, and as
 * the application redacts them. Other responses release the key.
 */
final class ResponsePolicy {

	private static final Logger logger = LoggerFactory.getLogger(ResponsePolicy.class);

	private static final String STORED_HEADERS = "idempotent.web.stored-headers";

	private static final String EXCLUDED_HEADERS = "idempotent.web.excluded-headers";

	private static final int FIRST_REFUSAL = 400;

	private static final int FIRST_ERROR = 500;

	/**
	 * Refusals that ask for the same request again, with credentials, under a condition,
	 * or later.
	 */
	private static final Set<Integer> ASKING_AGAIN = Set.of(401, 408, 412, 425, 428, 429);

	private static final Pattern RANGE = Pattern.compile("([1-4][0-9]{2})(?:\\s*-\\s*([1-4][0-9]{2}))?");

	private final IdempotencyWebSettings settings;

	private final BitSet storedStatuses = new BitSet(FIRST_ERROR);

	/**
	 * The only headers that are stored; empty for all.
	 */
	private final Set<String> storedHeaders;

	private final Set<String> excludedHeaders;

	private final ProblemTypes problems;

	/**
	 * Creates a policy.
	 * @throws IdempotentConfigurationException if a status, a range of them, the name of
	 * a header or the base URI of the problems is malformed, or a name has no effect
	 */
	ResponsePolicy(IdempotencyWebSettings settings) {
		this.settings = settings;
		settings.storedStatuses().stream().map(ResponsePolicy::parse).forEach(this.storedStatuses::or);
		this.storedHeaders = names(STORED_HEADERS, settings.storedHeaders());
		this.excludedHeaders = names(EXCLUDED_HEADERS, settings.excludedHeaders());
		requireEffect();
		this.problems = new ProblemTypes(settings.problemBaseUri(), settings.problemRenderer());
	}

	boolean isStored(int status) {
		return (status < FIRST_ERROR) ? this.storedStatuses.get(status) : keepsErrors();
	}

	/**
	 * Returns whether work is committed whose handler has returned this status.
	 */
	boolean commits(int status) {
		return status < FIRST_REFUSAL || (this.settings.commitOn() == CommitOn.RETURN && status < FIRST_ERROR
				&& !ASKING_AGAIN.contains(status));
	}

	/**
	 * Returns whether the response to work that was rolled back is stored.
	 */
	boolean isStoredAfterRollback(int status) {
		return status >= FIRST_REFUSAL && status < FIRST_ERROR && isStored(status);
	}

	/**
	 * Returns whether exceptions and statuses from 500 on are stored.
	 */
	boolean keepsErrors() {
		return this.settings.onError() == OnError.KEEP;
	}

	ProblemTypes problems() {
		return this.problems;
	}

	/**
	 * Returns the longest body that is stored, in bytes.
	 */
	int maxStored() {
		return this.settings.maxResponseBody();
	}

	/**
	 * Returns the longest body that is buffered until its transaction has committed, in
	 * bytes.
	 */
	int maxBuffered() {
		return this.settings.maxBufferedResponse();
	}

	/**
	 * Returns what is stored of a response with a status that is stored.
	 * @return {@link StoredResponse#notKept()} if the body is too long or a redactor
	 * refuses or fails
	 */
	StoredResponse toStore(HttpServletRequest request, CapturedResponse response) {
		List<Header> stored = new ArrayList<>(response.headers());
		stored.removeIf((header) -> !isStored(response.status(), header.name().toLowerCase(Locale.ROOT)));
		CapturedResponse reduced = new CapturedResponse(response.status(), stored, response.body(), response.redirect(),
				response.error());
		CapturedResponse redacted = isTooLong(response) ? null : redact(request, reduced);
		if (redacted == null || isTooLong(redacted)) {
			return StoredResponse.notKept();
		}
		StoredResponse whole = response.encode();
		boolean same = this.settings.redactors().isEmpty() ? stored.size() == response.headers().size()
				: whole.equals(redacted.encode());
		return same ? whole : redacted.encodeDistinct();
	}

	/**
	 * Returns the response of work that was rolled back. A response that is not kept
	 * would count as the response of work that was done.
	 */
	StoredResponse toStoreAfterRollback(HttpServletRequest request, CapturedResponse response) {
		StoredResponse stored = toStore(request, response);
		return stored.isKept() ? stored
				: this.problems
					.respond(Problem.RESPONSE_NOT_KEPT,
							"The first request with this idempotency key was refused and did nothing, but its response "
									+ "could not be stored. Do not send it again.",
							false, ProblemTypes.newInstance())
					.encode();
	}

	private boolean isTooLong(CapturedResponse response) {
		return response.body().length > maxStored();
	}

	/**
	 * The content type and the location of a redirect are always stored.
	 */
	private boolean isStored(int status, String header) {
		if (header.equals("content-type") || (header.equals("location") && status >= 300 && status < 400)) {
			return true;
		}
		return (this.storedHeaders.isEmpty() || this.storedHeaders.contains(header))
				&& !this.excludedHeaders.contains(header);
	}

	private @Nullable CapturedResponse redact(HttpServletRequest request, CapturedResponse response) {
		if (this.settings.redactors().isEmpty()) {
			return response;
		}
		SentError error = response.error();
		// A copy, whose arrays and headers a redactor may change.
		ReplayableResponse redacted = new ReplayableResponse(response.status(), replayedHeaders(response),
				response.body().clone(), (error != null) ? error.message() : null);
		for (ResponseRedactor redactor : this.settings.redactors()) {
			redacted = redact(request, redacted, redactor);
			if (redacted == null) {
				return null;
			}
		}
		return new CapturedResponse(response.status(), capturedHeaders(redacted.headers(), response), redacted.body(),
				redirect(redacted.headers(), response.redirect()),
				(error != null) ? new SentError(error.status(), redacted.errorMessage()) : null);
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

	private static HttpHeaders replayedHeaders(CapturedResponse response) {
		HttpHeaders headers = new HttpHeaders();
		response.headers().forEach((header) -> headers.add(header.name(), header.value()));
		Redirect redirect = response.redirect();
		if (redirect != null) {
			headers.set(HttpHeaders.LOCATION, redirect.location());
		}
		return headers;
	}

	private static List<Header> capturedHeaders(HttpHeaders redacted, CapturedResponse response) {
		Map<String, Boolean> replaces = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		response.headers().forEach((header) -> replaces.putIfAbsent(header.name(), header.replaces()));
		List<Header> headers = new ArrayList<>();
		redacted.forEach((name, values) -> {
			boolean first = replaces.getOrDefault(name, true);
			for (String value : values) {
				if (name.equalsIgnoreCase(HttpHeaders.CONTENT_TYPE)) {
					headers.add(new Header(HttpHeaders.CONTENT_TYPE, String.valueOf(value), true));
				}
				else if (value != null && CapturedResponse.canStore(name)) {
					headers.add(new Header(name, value, first));
				}
				first = false;
			}
		});
		if (response.redirect() != null) {
			headers.removeIf((header) -> header.name().equalsIgnoreCase(HttpHeaders.LOCATION));
		}
		return headers;
	}

	private static @Nullable Redirect redirect(HttpHeaders redacted, @Nullable Redirect redirect) {
		String location = redacted.getFirst(HttpHeaders.LOCATION);
		return (redirect == null || location == null) ? null
				: new Redirect(location, redirect.status(), redirect.clearBuffer());
	}

	/**
	 * Parses a status below 500, such as {@code 404}, or a range of them, such as
	 * {@code 200-399}.
	 * @throws IdempotentConfigurationException if it is malformed
	 */
	static BitSet parse(String range) {
		Matcher ends = RANGE.matcher(range.strip());
		int first = ends.matches() ? Integer.parseInt(ends.group(1)) : 0;
		int last = (first > 0 && ends.group(2) != null) ? Integer.parseInt(ends.group(2)) : first;
		if (first == 0 || first > last) {
			throw new IdempotentConfigurationException(
					"idempotent.web.stored-statuses: '" + range + "' is not a status or a range from 100 to 499.",
					"List statuses below 500 and ranges of them, such as 200-399, 404.");
		}
		BitSet statuses = new BitSet(FIRST_ERROR);
		statuses.set(first, last + 1);
		return statuses;
	}

	private static Set<String> names(String property, List<String> names) {
		return names.stream().map(String::strip).peek((name) -> {
			if (!HeaderNames.isValid(name)) {
				throw new IdempotentConfigurationException(property + " has a name that is not valid.",
						"List names of response headers, such as Location, X-Order-Id.");
			}
		}).map((name) -> name.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
	}

	private void requireEffect() {
		if (!this.storedHeaders.isEmpty() && !this.excludedHeaders.isEmpty()) {
			throw new IdempotentConfigurationException(STORED_HEADERS + " and " + EXCLUDED_HEADERS + " are both set.",
					"Set " + STORED_HEADERS + " to store only these headers, or " + EXCLUDED_HEADERS
							+ " to store all others.");
		}
		this.storedHeaders.forEach((name) -> {
			if (!CapturedResponse.canStore(name) && !name.equals("content-type")) {
				throw new IdempotentConfigurationException(
						STORED_HEADERS + " has '" + name + "', which is never stored.",
						"Remove it: it is only valid in the response to the first request.");
			}
		});
		if (this.excludedHeaders.contains("content-type")) {
			throw new IdempotentConfigurationException(EXCLUDED_HEADERS + " has Content-Type, which is always stored.",
					"Remove it, or declare a bean of type ResponseRedactor that changes it.");
		}
	}

}
