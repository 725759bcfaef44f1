package dev.idempotent.outbox.handler;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.idempotent.aop.ListenerInvocationGuard;
import dev.idempotent.aop.ListenerInvocationGuard.AdviceException;
import dev.idempotent.aop.ListenerMethod;
import dev.idempotent.aop.ListenerMethod.UnreadablePayloadException;
import dev.idempotent.aop.ThreadContext;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.handler.HandlerTransactions.LockedEvents;
import dev.idempotent.outbox.handler.HandlerTransactions.NotCalledException;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.outbox.relay.EventHandler;
import dev.idempotent.transaction.TransactionGuard;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * A method with {@link OutboxHandler}.
 */
final class OutboxHandlerMethod implements EventHandler {

	private static final Logger logger = LoggerFactory.getLogger(OutboxHandlerMethod.class);

	/**
	 * During a deployment, another version may be able to read what this one cannot.
	 */
	private static final Duration LEFT_TO_OTHERS = Duration.ofDays(1);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	private static final Outcome OVERTAKEN = new Outcome.Unavailable(HandlerTransactions.OVERTAKEN);

	private final String name;

	private final OutboxHandler annotation;

	private final ListenerMethod method;

	private final ListenerInvocationGuard entries;

	private final ConfigurableListableBeanFactory beans;

	private final HandlerEnvironment environment;

	private final OutageLog outage;

	private volatile @Nullable HandlerTransactions transactions;

	private volatile HandlerEnvironment.@Nullable Observation observation;

	private volatile boolean bound;

	OutboxHandlerMethod(String name, OutboxHandler annotation, ListenerMethod method,
			ConfigurableListableBeanFactory beans, HandlerEnvironment environment) {
		this.name = name;
		this.annotation = annotation;
		this.method = method;
		this.entries = new ListenerInvocationGuard(method, annotation.transactional());
		this.beans = beans;
		this.environment = environment;
		this.outage = new OutageLog(logger, "The handler " + name + " cannot be called; its events wait",
				"The handler " + name + " can be called again");
	}

	String name() {
		return this.name;
	}

	String type() {
		return this.annotation.type();
	}

	ListenerMethod method() {
		return this.method;
	}

	/**
	 * Finds the bean and the transactions of the method.
	 * @throws dev.idempotent.IdempotentConfigurationException if it cannot be called
	 */
	synchronized void bind() {
		if (!this.bound) {
			this.method.bind(this.beans);
			this.entries.begin();
			this.observation = this.beans.getBeanProvider(HandlerEnvironment.Observation.class).getIfUnique();
			if (this.annotation.transactional()) {
				this.transactions = HandlerTransactions.of(this.method.method(), lease(), this.beans);
			}
			this.bound = true;
		}
	}

	@Override
	public String topic() {
		return OutboxTopics.HANDLERS + ":" + this.name;
	}

	@Override
	public int concurrency() {
		return this.environment.concurrency(this.name);
	}

	@Override
	public Duration lease() {
		return this.environment.lease(this.name);
	}

	@Override
	public int attempts() {
		return this.environment.attempts();
	}

	@Override
	public Duration maxBackoff() {
		return this.environment.maxBackoff();
	}

	@Override
	public boolean removesEvents() {
		return this.annotation.transactional();
	}

	@Override
	public Thread newThread(Runnable work) {
		return this.environment.newThread(work);
	}

	/**
	 * The next event of this thread must not find what the handler attaches to it.
	 */
	@Override
	public Outcome handle(ClaimedEvent claim, Consumer<Throwable> failures) {
		Runnable context = ThreadContext.detach();
		try {
			return observe(claim, () -> attempt(claim, null, failures));
		}
		finally {
			context.run();
		}
	}

	/**
	 * An event with one attempt only is claimed, so that it never has a second one.
	 */
	@Override
	public boolean handlesUnclaimed() {
		HandlerTransactions own = this.transactions;
		return this.bound && own != null && own.lockUnclaimed() && batch() == 1 && attempts() > 1;
	}

	@Override
	public @Nullable Attempt handleUnclaimed(QueuedEvent head, Consumer<Throwable> failures) {
		HandlerTransactions own = Objects.requireNonNull(this.transactions);
		Runnable context = ThreadContext.detach();
		long start = System.nanoTime();
		LockedEvents locked = null;
		try {
			locked = own.lock(head);
			return (locked != null) ? attempt(locked, failures) : null;
		}
		catch (NotCalledException ex) {
			failures.accept(ex);
			this.outage.failed(start, ex);
			return null;
		}
		finally {
			if (locked != null) {
				locked.end();
			}
			context.run();
		}
	}

	private Attempt attempt(LockedEvents locked, Consumer<Throwable> failures) {
		ClaimedEvent claim = locked.claims().get(0);
		Outcome undeliverable = claim.undeliverable();
		return new Attempt(claim,
				(undeliverable != null) ? undeliverable : observe(claim, () -> attempt(claim, locked, failures)));
	}

	/**
	 * An observation that fails affects no attempt: the task runs once, within it or
	 * after it.
	 */
	private Outcome observe(ClaimedEvent claim, Supplier<Outcome> handling) {
		HandlerEnvironment.Observation observing = this.observation;
		if (observing == null) {
			return handling.get();
		}
		FutureTask<Outcome> attempt = new FutureTask<>(handling::get);
		try {
			Outcome unused = observing.observe(claim.event(), () -> run(attempt));
		}
		catch (RuntimeException | Error ex) {
			logger.debug("The observation of the handler {} has failed", this.name, ex);
		}
		return run(attempt);
	}

	private static Outcome run(FutureTask<Outcome> attempt) {
		attempt.run();
		try {
			return attempt.get();
		}
		catch (ExecutionException | InterruptedException ex) {
			throw new IllegalStateException("An attempt has ended without an outcome", ex);
		}
	}

	/**
	 * Handles an event.
	 * @param locked the transaction that has locked it, or {@code null} if it is claimed
	 */
	private Outcome attempt(ClaimedEvent claim, @Nullable LockedEvents locked, Consumer<Throwable> failures) {
		SerializedEvent event = claim.event();
		long start = System.nanoTime();
		try {
			if (!this.bound) {
				// A relay can start before the application has.
				bind();
			}
			@Nullable Object[] arguments = this.method.arguments(event.headers(), event.payload(), this.environment::read);
			HandlerTransactions own = this.transactions;
			if (own != null) {
				LockedEvents transaction = (locked != null) ? locked : own.lock(claim);
				transaction.run(() -> {
					this.outage.succeeded(start);
					call(event, arguments);
				});
			}
			else if (callOutsideTransactions(event, arguments)) {
				logger.warn("The handler {} has left a transaction open, which is rolled back (attempt {})", this.name,
						event.attempts());
				return new Outcome.Retry("The handler has left a transaction open", null);
			}
			return DELIVERED;
		}
		catch (UnreadablePayloadException ex) {
			return unreadable(claim, ex, failures);
		}
		catch (NotCalledException ex) {
			failures.accept(ex);
			if (ex.getCause() != null) {
				this.outage.failed(start, ex);
			}
			return new Outcome.Unavailable(String.valueOf(ex.getMessage()));
		}
		catch (Throwable ex) {
			failures.accept(ex);
			return failed(1, event, ex);
		}
		finally {
			// An interrupt flag left by a handler would abort the next statement.
			boolean unused = Thread.interrupted();
		}
	}

	private Outcome unreadable(ClaimedEvent claim, UnreadablePayloadException failure, Consumer<Throwable> failures) {
		failures.accept(failure);
		// The cause could contain a part of the payload.
		String reason = String.valueOf(failure.getMessage());
		if (claim.age().compareTo(LEFT_TO_OTHERS) < 0) {
			return EventHandler.leftToOthers(reason);
		}
		logger.warn("The handler {} cannot read an event, and for a day no version could: {}", this.name, reason);
		return new Outcome.Reject(reason);
	}

	@Override
	public int batch() {
		return this.annotation.batch();
	}

	@Override
	public List<Outcome> handleTogether(List<ClaimedEvent> claims, Consumer<Throwable> failures) {
		if (batch() == 1) {
			return EventHandler.super.handleTogether(claims, failures);
		}
		Runnable context = ThreadContext.detach();
		try {
			Map<List<Long>, Outcome> outcomes = new HashMap<>();
			if (claims.size() == 1) {
				ClaimedEvent single = claims.get(0);
				Outcome unused = observe(single,
						() -> Objects.requireNonNull(attemptTogether(claims, failures, outcomes).get(single.place())));
			}
			else {
				attemptTogether(claims, failures, outcomes);
			}
			return claims.stream().map((claim) -> Objects.requireNonNull(outcomes.get(claim.place()))).toList();
		}
		finally {
			context.run();
		}
	}

	/**
	 * Handles events in one transaction, without those that cannot be read, or that
	 * others have claimed.
	 * @param outcomes gets the outcome of each
	 */
	private Map<List<Long>, Outcome> attemptTogether(List<ClaimedEvent> claims, Consumer<Throwable> failures,
			Map<List<Long>, Outcome> outcomes) {
		long start = System.nanoTime();
		Map<List<Long>, @Nullable Object> elements = new HashMap<>();
		try {
			if (!this.bound) {
				bind();
			}
			for (ClaimedEvent claim : claims) {
				read(claim, elements, failures, outcomes);
			}
			List<ClaimedEvent> readable = claims.stream()
				.filter((claim) -> elements.containsKey(claim.place()))
				.toList();
			if (!readable.isEmpty()) {
				LockedEvents locked = Objects.requireNonNull(this.transactions).lock(readable);
				locked.run(() -> {
					this.outage.succeeded(start);
					List<@Nullable Object> list = new ArrayList<>();
					locked.claims().forEach((claim) -> list.add(elements.get(claim.place())));
					callWithoutKey(Collections.unmodifiableList(list));
				});
				locked.claims().forEach((claim) -> outcomes.put(claim.place(), DELIVERED));
				end(claims, OVERTAKEN, outcomes);
			}
		}
		catch (NotCalledException ex) {
			failures.accept(ex);
			if (ex.getCause() != null) {
				this.outage.failed(start, ex);
			}
			end(claims, new Outcome.Unavailable(String.valueOf(ex.getMessage())), outcomes);
		}
		catch (Throwable ex) {
			failures.accept(ex);
			end(claims, failed(claims.size(), claims.get(0).event(), ex), outcomes);
		}
		finally {
			boolean unused = Thread.interrupted();
		}
		return outcomes;
	}

	/**
	 * A key of several events would be another one if fewer of them are handled again.
	 */
	private void callWithoutKey(List<@Nullable Object> list) throws Throwable {
		IdempotencyContext outer = IdempotencyContext.bind(null);
		try {
			this.entries.call(new @Nullable Object[] { list });
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	private void read(ClaimedEvent claim, Map<List<Long>, @Nullable Object> elements, Consumer<Throwable> failures,
			Map<List<Long>, Outcome> outcomes) {
		try {
			SerializedEvent event = claim.event();
			elements.put(claim.place(), ListenerMethod.element(event.headers(), event.payload(),
					Objects.requireNonNull(this.method.elementType()), this.environment::read));
		}
		catch (UnreadablePayloadException ex) {
			outcomes.put(claim.place(), unreadable(claim, ex, failures));
		}
	}

	private static void end(List<ClaimedEvent> claims, Outcome outcome, Map<List<Long>, Outcome> outcomes) {
		claims.forEach((claim) -> outcomes.putIfAbsent(claim.place(), outcome));
	}

	/**
	 * The key is the same at each attempt, so the calls to other services carry the same
	 * keys.
	 */
	private void call(SerializedEvent event, @Nullable Object[] arguments) throws Throwable {
		IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.METHOD, OutboxTopics.HANDLERS, "", topic(),
				event.id().toString());
		IdempotencyContext outer = IdempotencyContext.bind(new IdempotencyContext(key, UUID.randomUUID().toString()));
		try {
			this.entries.call(arguments);
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	/**
	 * Calls the handler, and ends a transaction that it leaves open: what this thread
	 * does next would join it, and never commit.
	 * @return whether it has left one open
	 */
	private boolean callOutsideTransactions(SerializedEvent event, @Nullable Object[] arguments) throws Throwable {
		try {
			call(event, arguments);
		}
		catch (Throwable ex) {
			boolean unused = TransactionGuard.endLeftTransaction(ex::addSuppressed);
			throw ex;
		}
		return TransactionGuard
			.endLeftTransaction((ex) -> logger.debug("A transaction that was left open could not be rolled back", ex));
	}

	/**
	 * Describes why a call has failed.
	 * @param events how many it had
	 * @param event the first one
	 */
	private Outcome failed(int events, SerializedEvent event, Throwable failure) {
		String kind = failure.getClass().getName();
		// A message could contain a part of the event.
		if (events > 1) {
			logger.warn("The handler {} has failed with {} for {} events together; halves of them are handled",
					this.name, kind, events);
		}
		else {
			logger.warn("The handler {} has failed with {} (attempt {}); the event is handled again, or becomes dead",
					this.name, kind, event.attempts());
		}
		logger.debug("The stack trace of the failure above", failure);
		return new Outcome.Retry((failure instanceof AdviceException) ? String.valueOf(failure.getMessage())
				: "The handler failed with " + kind, null);
	}

}
