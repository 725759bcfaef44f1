package dev.idempotent.idempotency.web;

import java.util.BitSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.StoredResponse;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Decides which responses are stored. Other responses release the key.
 */
final class ResponsePolicy {

	private static final int FIRST_ERROR = 500;

	private static final Pattern RANGE = Pattern.compile("([1-4][0-9]{2})(?:\\s*-\\s*([1-4][0-9]{2}))?");

	private final BitSet storedStatuses = new BitSet(FIRST_ERROR);

	private final OnError onError;

	private final int maxStored;

	private final int maxBuffered;

	private final StoredResponses storedResponses;

	private final ProblemTypes problems;

	/**
	 * Creates a policy.
	 * @param storedStatuses statuses below 500, such as {@code 404}, and ranges of them,
	 * such as {@code 200-399}
	 * @param onError whether exceptions and statuses from 500 on are stored
	 * @param maxStored the longest body that is stored, in bytes
	 * @param maxBuffered the longest body that is buffered until its transaction has
	 * committed, in bytes
	 * @param storedResponses what is stored of a response
	 * @param problems the types of problem details
	 * @throws IdempotentConfigurationException if a status or range is malformed
	 */
	ResponsePolicy(List<String> storedStatuses, OnError onError, int maxStored, int maxBuffered,
			StoredResponses storedResponses, ProblemTypes problems) {
		storedStatuses.stream().map(ResponsePolicy::parse).forEach(this.storedStatuses::or);
		this.onError = onError;
		this.maxStored = maxStored;
		this.maxBuffered = maxBuffered;
		this.storedResponses = storedResponses;
		this.problems = problems;
	}

	/**
	 * Returns what is stored of a response with a status that is stored.
	 */
	StoredResponse toStore(HttpServletRequest request, CapturedResponse response) {
		return this.storedResponses.of(request, response);
	}

	/**
	 * Returns the response of work that was rolled back. One that is not kept would count
	 * as that of work that was done.
	 */
	StoredResponse toStoreAfterRollback(HttpServletRequest request, CapturedResponse response) {
		StoredResponse stored = toStore(request, response);
		return stored.isKept() ? stored : CapturedResponseFormat.encode(this.problems
			.respond(Problem.RESPONSE_NOT_KEPT,
					"The first request with this idempotency key was refused and did nothing, but its response could "
							+ "not be stored. Do not send it again.")
			.capture());
	}

	boolean isStored(int status) {
		return (status < FIRST_ERROR) ? this.storedStatuses.get(status) : keepsErrors();
	}

	/**
	 * Returns whether the work behind a response with this status may be committed.
	 */
	boolean isCommitted(int status) {
		return status < FIRST_ERROR && isStored(status);
	}

	boolean keepsErrors() {
		return this.onError == OnError.KEEP;
	}

	ProblemTypes problems() {
		return this.problems;
	}

	int maxStored() {
		return this.maxStored;
	}

	int maxBuffered() {
		return this.maxBuffered;
	}

	/**
	 * Parses a status or a range.
	 * @throws IdempotentConfigurationException if it is malformed
	 */
	static BitSet parse(String range) {
		Matcher ends = RANGE.matcher(range.strip());
		if (!ends.matches()) {
			throw malformed(range);
		}
		int first = Integer.parseInt(ends.group(1));
		int last = (ends.group(2) != null) ? Integer.parseInt(ends.group(2)) : first;
		if (first > last) {
			throw malformed(range);
		}
		BitSet statuses = new BitSet(FIRST_ERROR);
		statuses.set(first, last + 1);
		return statuses;
	}

	private static IdempotentConfigurationException malformed(String range) {
		return new IdempotentConfigurationException(
				"idempotent.web.stored-statuses: '" + range + "' is not a status or a range from 100 to 499.",
				"List statuses below 500 and ranges of them, such as 200-399, 404.", null);
	}

}
