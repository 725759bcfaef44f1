package dev.idempotent.idempotency;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The claimed key of the work that the current thread runs, and the calls that it makes
 * to other services, each with a key derived from it. While it is bound, the MDC contains
 * the key's digest as {@value #MDC_KEY}.
 */
public final class IdempotencyContext {

	/**
	 * The name of the key's digest in the MDC.
	 */
	public static final String MDC_KEY = "idempotency";

	private static final String FORMAT = "1";

	private static final String KIND = "derived";

	private static final Pattern TARGET = Pattern.compile("[A-Za-z0-9_-]{1,100}");

	private static final ThreadLocal<@Nullable IdempotencyContext> bound = new ThreadLocal<>();

	private final IdempotencyKey key;

	private final String token;

	private final @Nullable Fingerprint fingerprint;

	private final boolean singleCall;

	private final @Nullable String refusal;

	private final @Nullable String cancels;

	private final boolean repeated;

	private final @Nullable String earlierCall;

	private final Criteria criteria;

	private final Root root;

	/**
	 * Calls are numbered by their target and operation.
	 */
	private final Map<List<String>, Integer> lastNumbers = new HashMap<>();

	/**
	 * The numbers of the calls that were not answered, by target, operation and
	 * fingerprint: the next equal call gets one of them.
	 */
	private final Map<List<Object>, Queue<Integer>> unanswered = new HashMap<>();

	private final Set<Object> made = new HashSet<>();

	/**
	 * The calls that are not known to be done, with their last attempts. Locked to read
	 * or change any of these collections and numbers.
	 */
	private final Map<Object, Integer> open = new HashMap<>();

	/**
	 * The look-ups without the proof that the run requires. They are done if another call
	 * of the run has an effect, because then that one decides.
	 */
	private final Map<Object, Integer> unproven = new HashMap<>();

	/**
	 * The calls whose last attempts have got a response that the run names.
	 */
	private final Map<Object, Answer> named = new HashMap<>();

	private boolean effective;

	private boolean judged;

	private int keyed;

	private boolean keyless;

	private boolean refused;

	private boolean repeatable;

	private int attempts;

	private @Nullable Answer lastAnswer;

	private @Nullable String call;

	private @Nullable String change;

	/**
	 * Creates the context of one run.
	 * @param key the claimed key
	 * @param token the claimant's token
	 */
	public IdempotencyContext(IdempotencyKey key, String token) {
		this(key, token, null, false, null, null, false, null, Criteria.NONE, Root.of(key));
	}

	/**
	 * Creates the context of one run of a request or a call.
	 * @param key the claimed key
	 * @param token the claimant's token
	 * @param fingerprint the fingerprint of the request or the call
	 */
	public IdempotencyContext(IdempotencyKey key, String token, Fingerprint fingerprint) {
		this(key, token, fingerprint, false, null, null, false, null, Criteria.NONE, Root.of(key));
	}

	private IdempotencyContext(IdempotencyKey key, String token, @Nullable Fingerprint fingerprint, boolean singleCall,
			@Nullable String refusal, @Nullable String cancels, boolean repeated, @Nullable String earlierCall,
			Criteria criteria, Root root) {
		this.key = key;
		this.token = token;
		this.fingerprint = fingerprint;
		this.singleCall = singleCall;
		this.refusal = refusal;
		this.cancels = cancels;
		this.repeated = repeated;
		this.earlierCall = earlierCall;
		this.criteria = criteria;
		this.root = root;
	}

	/**
	 * Creates the context of a run that makes a single call to another service, and whose
	 * key no earlier run has sent. That call and its retries carry the key of the run
	 * itself; a different call fails with an {@link IllegalStateException} and is not
	 * sent.
	 * @param key the key of the run and of its call
	 * @param token the claimant's token
	 * @param cancels the value of {@code Idempotency-Cancels} to send with the call, such
	 * as {@code <key>; outcome=unknown}; {@code null} unless the call cancels another one
	 * @return the context
	 */
	public static IdempotencyContext forSingleCall(IdempotencyKey key, String token, @Nullable String cancels) {
		return new IdempotencyContext(key, token, null, true, null, cancels, false, null, Criteria.NONE, Root.of(key));
	}

	/**
	 * Creates the context of a run that may repeat the single call of an earlier run. If
	 * its call is not the earlier one, or would carry no key, it fails with an
	 * {@link IllegalStateException} and is not sent.
	 * @param key the key of the run and of its call
	 * @param token the claimant's token
	 * @param cancels the value of {@code Idempotency-Cancels} to send with the call
	 * @param earlierCall the {@linkplain #singleCall() call} of the earlier run, or
	 * {@code null} if it is not known, as after a crash
	 * @return the context
	 */
	public static IdempotencyContext forSingleCall(IdempotencyKey key, String token, @Nullable String cancels,
			@Nullable String earlierCall) {
		return new IdempotencyContext(key, token, null, true, null, cancels, true, earlierCall, Criteria.NONE,
				Root.of(key));
	}

	/**
	 * Creates the context of a run whose calls must not get keys, because a repetition of
	 * the run would derive others. A call that needs one fails with an
	 * {@link IllegalStateException} and is not sent.
	 * @param key the key of the run
	 * @param token the claimant's token
	 * @param refusal why, and what to do instead
	 * @return the context
	 */
	public static IdempotencyContext refusingCalls(IdempotencyKey key, String token, String refusal) {
		return new IdempotencyContext(key, token, null, false, refusal, null, false, null, Criteria.NONE, Root.of(key));
	}

	/**
	 * Returns a context without calls that judges responses.
	 * @param required what the responses must show
	 * @return the context
	 */
	public IdempotencyContext withCriteria(Criteria required) {
		return new IdempotencyContext(this.key, this.token, this.fingerprint, this.singleCall, this.refusal,
				this.cancels, this.repeated, this.earlierCall, required, this.root);
	}

	/**
	 * Returns a context without calls that derives keys from another key than its own.
	 * @param source provides that key, the same one to each run that may repeat this one
	 * @param retention how long it does so
	 * @return the context
	 */
	public IdempotencyContext derivingFrom(Supplier<IdempotencyKey> source, Duration retention) {
		return new IdempotencyContext(this.key, this.token, this.fingerprint, this.singleCall, this.refusal,
				this.cancels, this.repeated, this.earlierCall, this.criteria, new Root(source, retention));
	}

	/**
	 * What the responses to the calls of this run must show.
	 * @return the criteria
	 */
	public Criteria criteria() {
		return this.criteria;
	}

	/**
	 * The context of the calling thread.
	 * @return the context, or {@code null} outside an idempotent run
	 */
	public static @Nullable IdempotencyContext current() {
		return bound.get();
	}

	/**
	 * Binds a context to the calling thread.
	 * @param next the context, or {@code null} for none
	 * @return the previous context, to be bound again in a {@code finally} block
	 */
	public static @Nullable IdempotencyContext bind(@Nullable IdempotencyContext next) {
		IdempotencyContext previous = bound.get();
		if (next != null) {
			bound.set(next);
			MDC.put(MDC_KEY, next.key.digest());
		}
		else {
			bound.remove();
			MDC.remove(MDC_KEY);
		}
		return previous;
	}

	/**
	 * The claimed key.
	 * @return the key, which is safe to log
	 */
	public IdempotencyKey key() {
		return this.key;
	}

	/**
	 * The key from which the keys of calls and sagas are derived: the claimed key, unless
	 * that is the fingerprint of the request or the call. Then it is one that belongs to
	 * this run and its retries, and not to an equal request after the retention. The
	 * first call may call the store.
	 * @return the key
	 * @throws IdempotencyStoreException if the store is unreachable
	 * @throws IdempotencyPendingException if another run owns the key by now
	 */
	public IdempotencyKey root() {
		return this.root.key().get();
	}

	/**
	 * How long runs of this key have the same root.
	 * @return the time since one of them has derived its first key, or {@code null} if it
	 * is the same for good
	 */
	public @Nullable Duration rootRetention() {
		return this.root.retention();
	}

	/**
	 * The token that proves to the store that this run owns the key. Each run of a key
	 * has its own.
	 * @return the token
	 */
	public String token() {
		return this.token;
	}

	/**
	 * The fingerprint of the request or the call that this run is for. What is derived
	 * from the key belongs to it: a run under the same key may be for another one, if an
	 * earlier run has freed the key.
	 * @return the fingerprint, or {@code null} if the run has none
	 */
	public @Nullable Fingerprint fingerprint() {
		return this.fingerprint;
	}

	/**
	 * The value of {@code Idempotency-Cancels} to send with each call that gets a key.
	 * @return the value, or {@code null} if this run cancels no call
	 */
	public @Nullable String cancels() {
		return this.cancels;
	}

	/**
	 * Whether this run makes a single call, under its own key.
	 * @return whether a different call fails
	 */
	public boolean isSingleCall() {
		return this.singleCall;
	}

	/**
	 * Whether an earlier run may have made the single call of this one.
	 * @return whether a call without a key fails
	 */
	public boolean isRepeated() {
		return this.repeated;
	}

	/**
	 * The call that was sent under the key of this run: the name of its target, and
	 * digests of what is called there and with what.
	 * @return the call as a text of at most 300 characters, or {@code null} without one
	 */
	public @Nullable String singleCall() {
		synchronized (this.open) {
			return this.call;
		}
	}

	/**
	 * How the call of this run differs from the earlier one, so that it was not sent.
	 * @return the difference, or {@code null} if there is none
	 */
	public @Nullable String changeOfCall() {
		synchronized (this.open) {
			return this.change;
		}
	}

	/**
	 * The calls that this run has made to other services, as far as they were observed.
	 * @return the calls up to now
	 */
	public Calls calls() {
		synchronized (this.open) {
			return new Calls(this.made.size(), this.keyed, this.attempts, this.open.size(), this.lastAnswer);
		}
	}

	/**
	 * Begins an attempt of a call to another service, and derives its key. Another run of
	 * this key that makes the same calls derives the same keys. Two calls of one
	 * operation get two keys, but a call that is equal to an unanswered one is its retry
	 * and gets the same key.
	 * @param target the name of the service, which must not change when the service moves
	 * @param operation what is called there, such as method and path without the parts
	 * that differ between retries or locations
	 * @param request the fingerprint of the call, to tell a retry from another call
	 * @return the attempt, on which its outcome must be marked
	 * @throws IllegalStateException if the run makes a single call and this is another or
	 * not the earlier one, or its calls get no keys
	 */
	public CallAttempt derive(String target, String operation, Fingerprint request) {
		if (!TARGET.matcher(target).matches()) {
			throw new IllegalArgumentException(
					"The name of a target consists of at most 100 letters, digits, dashes and underscores");
		}
		// Before anything is counted: the store may not answer.
		IdempotencyKey from = this.singleCall ? this.key : root();
		synchronized (this.open) {
			return nextOf(from, List.of(target, operation), request);
		}
	}

	/**
	 * Begins an attempt of a call to another service that gets no derived key.
	 * @param request the fingerprint of the call, to tell a retry from another call
	 * @return the attempt, on which its outcome must be marked
	 */
	public CallAttempt observe(Fingerprint request) {
		synchronized (this.open) {
			markEffective();
			return new CallAttempt(request, null, () -> {
			});
		}
	}

	/**
	 * Begins an attempt of a call to another service that has no effect, such as a
	 * look-up.
	 * @param request the fingerprint of the call, to tell a retry from another call
	 * @return the attempt, on which its outcome must be marked
	 */
	public CallAttempt observeSafe(Fingerprint request) {
		synchronized (this.open) {
			return new CallAttempt(request, null, () -> {
			});
		}
	}

	private void markEffective() {
		this.effective = true;
		this.unproven.forEach(this.open::remove);
		this.unproven.clear();
	}

	/**
	 * Records a call of a service whose calls may be repeated without a key. Such a call
	 * decides nothing.
	 */
	public void observeRepeatable() {
		synchronized (this.open) {
			this.repeatable = true;
		}
	}

	/**
	 * Whether any call of this run was observed.
	 * @return whether one was made or tried
	 */
	public boolean hasCalls() {
		synchronized (this.open) {
			return !this.made.isEmpty() || this.keyed > 0 || this.refused || this.repeatable;
		}
	}

	/**
	 * Whether a call of this run may have an effect, because it was no look-up.
	 * @return whether there was such a call
	 */
	public boolean hasEffect() {
		synchronized (this.open) {
			return this.effective;
		}
	}

	/**
	 * Whether a response to a call of this run was judged by what proves it.
	 * @return whether there was one, with or without the proof
	 */
	public boolean hasJudgedResponse() {
		synchronized (this.open) {
			return this.judged;
		}
	}

	/**
	 * A response that matches what the run names, and is the last one to its call. There
	 * may be other calls after it.
	 * @return the response, or {@code null} if no call has got one
	 */
	public @Nullable Answer namedAnswer() {
		synchronized (this.open) {
			return this.named.isEmpty() ? null : this.named.values().iterator().next();
		}
	}

	/**
	 * Whether a call was made that has an effect, and carried no key.
	 * @return whether one was made
	 */
	public boolean hasKeylessCall() {
		synchronized (this.open) {
			return this.keyless;
		}
	}

	/**
	 * Whether a call that has an effect, and would have carried no key, was not sent.
	 * @return whether one was refused
	 */
	public boolean hasRefusedKeylessCall() {
		synchronized (this.open) {
			return this.refused;
		}
	}

	/**
	 * Whether a call of this run that carried a key was not answered: the next call may
	 * be that call, at another location of its service.
	 * @return whether one was not answered
	 */
	public boolean hasUnansweredCall() {
		synchronized (this.open) {
			return this.unanswered.values().stream().anyMatch((numbers) -> !numbers.isEmpty());
		}
	}

	/**
	 * Begins an attempt of a call that has an effect, and carries no key because its URL
	 * belongs to no known service. A run whose single call may have been sent before, or
	 * is open, must not send it: it may be that call, at a location that is not known.
	 * @param request the fingerprint of the call, to tell a retry from another call
	 * @return the attempt, on which its outcome must be marked
	 * @throws IllegalStateException if it must not be sent
	 */
	public CallAttempt observeKeyless(Fingerprint request) {
		synchronized (this.open) {
			boolean unsettled = (this.keyed == 0) ? this.repeated : !this.open.isEmpty();
			if (this.singleCall && unsettled) {
				this.refused = true;
				throw new IllegalStateException("This call would carry no key, because its URL belongs to no target, "
						+ "and the call under the key of this run has an unknown outcome"
						+ ((this.keyed == 0) ? ", or an earlier attempt may have made it" : "")
						+ ". Nothing was sent. If it is the same service, list each of its locations under its name in "
						+ "idempotent.client.targets; if its calls may be repeated without a key, such as the request "
						+ "of a token, list it in idempotent.client.repeatable.");
			}
			this.keyless = true;
			return observe(request);
		}
	}

	private CallAttempt nextOf(IdempotencyKey from, List<String> operation, Fingerprint request) {
		List<Object> call = List.of(operation, request);
		Queue<Integer> retried = this.unanswered.get(call);
		@Nullable Integer again = (retried != null) ? retried.poll() : null;
		if (again == null) {
			countKey();
			if (this.singleCall) {
				requireEarlierCall(CallIdentity.of(operation.get(0), operation.get(1), request));
			}
		}
		markEffective();
		int number = (again != null) ? again : this.lastNumbers.merge(operation, 1, Integer::sum);
		String value = this.singleCall ? from.digest() : LengthPrefixedDigest.of(FORMAT, KIND, from.digest(),
				operation.get(0), operation.get(1), Integer.toString(number));
		return new CallAttempt(value, value,
				() -> this.unanswered.computeIfAbsent(call, (first) -> new PriorityQueue<>()).add(number));
	}

	private void countKey() {
		this.keyed++;
		if (this.refusal != null) {
			throw new IllegalStateException(this.refusal);
		}
		if (this.singleCall && this.keyed > 1) {
			throw new IllegalStateException(
					"The key of this run belongs to a single call, and this is a second one, or a retry with another "
							+ "target, method, path, query or body. Nothing was sent. Make each call in a step of its "
							+ "own, and repeat a call unchanged. List a service whose calls may be repeated without a "
							+ "key in idempotent.client.repeatable.");
		}
	}

	private void requireEarlierCall(CallIdentity next) {
		this.change = (this.earlierCall != null) ? next.differenceFrom(this.earlierCall) : null;
		if (this.change != null) {
			throw new IllegalStateException("The call under the key of this run is not the one that was sent before: "
					+ this.change + ". Nothing was sent. Repeat the call unchanged.");
		}
		this.call = next.text();
	}

	/**
	 * One attempt of a call that a run makes to another service. The outcome of the call
	 * is open until an attempt of it is marked as done.
	 */
	public final class CallAttempt {

		private final Object call;

		private final @Nullable String key;

		private final Runnable retried;

		private final int number;

		private boolean unanswered;

		private CallAttempt(Object call, @Nullable String key, Runnable retried) {
			this.call = call;
			this.key = key;
			this.retried = retried;
			this.number = ++IdempotencyContext.this.attempts;
			IdempotencyContext.this.made.add(call);
			IdempotencyContext.this.open.put(call, this.number);
			IdempotencyContext.this.named.remove(call);
			IdempotencyContext.this.lastAnswer = null;
		}

		/**
		 * The derived key to send. An equal call later in the run gets another one,
		 * unless this attempt is marked as unanswered.
		 * @return 64 lower-case hexadecimal digits; {@code null} if none was derived
		 */
		public @Nullable String key() {
			return this.key;
		}

		/**
		 * Records the response, whatever it means.
		 * @param answer the response
		 */
		public void markAnswered(Answer answer) {
			synchronized (IdempotencyContext.this.open) {
				IdempotencyContext.this.lastAnswer = answer;
				IdempotencyContext.this.judged |= answer.evidence() != Evidence.NONE;
				if (answer.named()) {
					IdempotencyContext.this.named.put(this.call, answer);
				}
			}
		}

		/**
		 * Marks the call as done: the service has reported its success.
		 */
		public void markDone() {
			synchronized (IdempotencyContext.this.open) {
				IdempotencyContext.this.open.remove(this.call, this.number);
			}
		}

		/**
		 * Marks a call without an effect as one whose response lacks the proof that the
		 * run requires: it is done only if another call of the run has an effect.
		 */
		public void markUnproven() {
			synchronized (IdempotencyContext.this.open) {
				if (IdempotencyContext.this.effective) {
					IdempotencyContext.this.open.remove(this.call, this.number);
				}
				else {
					IdempotencyContext.this.unproven.put(this.call, this.number);
				}
			}
		}

		/**
		 * Marks the attempt as unanswered: it failed, or the service asked for a retry,
		 * or the body of its response broke off. The next equal call is its retry and
		 * gets the same key. Has an effect once.
		 */
		public void markUnanswered() {
			synchronized (IdempotencyContext.this.open) {
				if (!this.unanswered) {
					this.unanswered = true;
					IdempotencyContext.this.unproven.remove(this.call, this.number);
					IdempotencyContext.this.open.putIfAbsent(this.call, this.number);
					this.retried.run();
				}
			}
		}

	}

	/**
	 * The key from which others are derived.
	 *
	 * @param key provides the key
	 * @param retention how long it is the same, or {@code null} if it is so for good
	 */
	private record Root(Supplier<IdempotencyKey> key, @Nullable Duration retention) {

		private static Root of(IdempotencyKey key) {
			return new Root(() -> key, null);
		}

	}

	/**
	 * What the responses to the calls of a run must show.
	 *
	 * @param proof what proves that the service itself has sent a response, or
	 * {@code null} if each response counts
	 * @param keyless whether that is required of calls without a key, too
	 * @param named the condition by which the run recognizes the responses that it names,
	 * or {@code null} if it names none
	 */
	public record Criteria(@Nullable Predicate<ServiceResponse> proof, boolean keyless,
			@Nullable Predicate<ServiceResponse> named) {

		/**
		 * Each response counts.
		 */
		public static final Criteria NONE = new Criteria(null, false, null);

	}

	/**
	 * The calls of a run that were observed, with or without a derived key.
	 *
	 * @param made the number of different calls; retries are not counted
	 * @param keyed how many of them asked for a derived key, including refused ones
	 * @param attempts the number of attempts
	 * @param open the number of calls whose last attempt is not known to be done
	 * @param lastAnswer the response to the last attempt, or {@code null} if there is
	 * none
	 */
	public record Calls(int made, int keyed, int attempts, int open, @Nullable Answer lastAnswer) {
	}

	/**
	 * A response of another service.
	 *
	 * @param status the HTTP status
	 * @param replayed whether it is the stored response to an earlier call with the key
	 * @param evidence what proves that the service itself has sent it
	 * @param page whether it is a page for a browser, as gateways send them
	 * @param problem the last part of the type of a problem detail, such as
	 * {@code in-progress}; {@code null} if it is none
	 * @param honoursKeys whether it answers a request with a key, of a service that is
	 * named as one that does nothing twice under one key
	 * @param named whether it fulfils the condition that the run names
	 */
	public record Answer(int status, boolean replayed, Evidence evidence, boolean page, @Nullable String problem,
			boolean honoursKeys, boolean named) {

		/**
		 * Client errors after which the same request may succeed.
		 */
		private static final Set<Integer> RETRYABLE = Set.of(401, 403, 408, 409, 412, 425, 428, 429);

		private static final int FIRST_ERROR = 500;

		/**
		 * Creates a response without evidence.
		 * @param status the HTTP status
		 * @param replayed whether it is the stored response to an earlier call with the
		 * key
		 */
		public Answer(int status, boolean replayed) {
			this(status, replayed, Evidence.NONE, false, null, false, false);
		}

		/**
		 * Returns whether a retry of the request would end in the same way.
		 * @param status the HTTP status
		 * @return whether the status is final
		 */
		public static boolean isFinal(int status) {
			return status < FIRST_ERROR && !RETRYABLE.contains(status);
		}

	}

	/**
	 * What proves that a service has sent a response, and not a gateway in front of it.
	 */
	public enum Evidence {

		/**
		 * Nothing, and the run requires a proof.
		 */
		MISSING,

		/**
		 * Nothing, and the run requires no proof.
		 */
		NONE,

		/**
		 * The service states that the outcome is open, or it has answered another
		 * request.
		 */
		OPEN,

		/**
		 * What the run requires.
		 */
		PROVEN,

		/**
		 * The receipt for the key of the request.
		 */
		RECEIPT;

		/**
		 * Whether the response may prove something.
		 * @return whether it is not known to prove nothing
		 */
		public boolean isCredible() {
			return this != MISSING && this != OPEN;
		}

	}

}
