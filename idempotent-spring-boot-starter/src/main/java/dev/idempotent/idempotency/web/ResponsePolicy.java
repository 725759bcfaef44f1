package dev.idempotent.idempotency.web;

import java.util.BitSet;
import java.util.List;

import dev.idempotent.idempotency.OnError;

/**
 * Which answers are stored. Those that are not leave the key free.
 */
public final class ResponsePolicy {

	private static final int FIRST_ERROR = 500;

	private final BitSet storedStatuses = new BitSet(FIRST_ERROR);

	private final OnError onError;

	private final int maxStored;

	private final int maxBuffered;

	/**
	 * Creates a policy.
	 * @param storedStatuses statuses below 500, such as {@code 404}, and ranges of them,
	 * such as {@code 200-399}
	 * @param onError what becomes of statuses from 500 on and of exceptions
	 * @param maxStored the longest body that is stored, in bytes
	 * @param maxBuffered the longest body that is held until its transaction has
	 * committed, in bytes
	 * @throws IllegalArgumentException if a status is none, naming it
	 */
	public ResponsePolicy(List<String> storedStatuses, OnError onError, int maxStored, int maxBuffered) {
		storedStatuses.forEach(this::addRange);
		this.onError = onError;
		this.maxStored = maxStored;
		this.maxBuffered = maxBuffered;
	}

	boolean isStored(int status) {
		return (status < FIRST_ERROR) ? this.storedStatuses.get(status) : keepsErrors();
	}

	/**
	 * Tells whether work that ends in a status may stand: what would not be stored is
	 * undone.
	 */
	boolean isCommitted(int status) {
		return status < FIRST_ERROR && isStored(status);
	}

	boolean keepsErrors() {
		return this.onError == OnError.KEEP;
	}

	int maxStored() {
		return this.maxStored;
	}

	int maxBuffered() {
		return this.maxBuffered;
	}

	private void addRange(String range) {
		String[] ends = range.strip().split("-", 2);
		int first = status(ends[0], range);
		int last = status(ends[ends.length - 1], range);
		if (first > last) {
			throw noStatus(range);
		}
		this.storedStatuses.set(first, last + 1);
	}

	private static int status(String text, String range) {
		if (!text.strip().matches("[1-4][0-9]{2}")) {
			throw noStatus(range);
		}
		return Integer.parseInt(text.strip());
	}

	private static IllegalArgumentException noStatus(String range) {
		return new IllegalArgumentException("'" + range + "' is no status from 100 to 499 and no range of them");
	}

}
