package dev.idempotent.outbox.handler;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

import dev.idempotent.advice.ListenerEntries;
import dev.idempotent.advice.ListenerEntries.AdviceException;
import dev.idempotent.advice.ListenerMethod;
import dev.idempotent.advice.ListenerMethod.UnreadablePayloadException;
import dev.idempotent.advice.ThreadContext;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.handler.HandlerTransactions.NotCalledException;
import dev.idempotent.outbox.jdbc.EventTable.Claim;
import dev.idempotent.outbox.relay.EventHandler;
import dev.idempotent.transaction.TransactionGuard;
import dev.idempotent.work.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * A method with {@link OutboxHandler}.
 */
final class HandlerMethod implements EventHandler {

	private static final Logger logger = LoggerFactory.getLogger(HandlerMethod.class);

	/**
	 * During a deployment, another version may be able to read what this one cannot.
	 */
	private static final Duration LEFT_TO_OTHERS = Duration.ofDays(1);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	private final String name;

	private final OutboxHandler annotation;

	private final ListenerMethod method;

	private final ListenerEntries entries;

	private final ConfigurableListableBeanFactory beans;

	private final HandlerEnvironment environment;

	private final OutageLog outage;

	private volatile @Nullable HandlerTransactions transactions;

	private volatile HandlerEnvironment.@Nullable Observation observation;

	private volatile boolean bound;

	HandlerMethod(String name, OutboxHandler annotation, ListenerMethod method, ConfigurableListableBeanFactory beans,
			HandlerEnvironment environment) {
		this.name = name;
		this.annotation = annotation;
		this.method = method;
		this.entries = new ListenerEntries(method, annotation.transactional());
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
	public Outcome handle(Claim claim, Consumer<Throwable> failures) {
		Runnable context = ThreadContext.detach();
		try {
			return observe(claim, failures);
		}
		finally {
			context.run();
		}
	}

	/**
	 * An observation that fails affects no attempt: the task runs once, within it or
	 * after it.
	 */
	private Outcome observe(Claim claim, Consumer<Throwable> failures) {
		HandlerEnvironment.Observation observing = this.observation;
		if (observing == null) {
			return attempt(claim, failures);
		}
		FutureTask<Outcome> attempt = new FutureTask<>(() -> attempt(claim, failures));
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

	private Outcome attempt(Claim claim, Consumer<Throwable> failures) {
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
				own.run(claim, () -> {
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
			failures.accept(ex);
			// The cause could contain a part of the payload.
			String reason = String.valueOf(ex.getMessage());
			if (claim.age().compareTo(LEFT_TO_OTHERS) < 0) {
				return EventHandler.leftToOthers(reason);
			}
			logger.warn("The handler {} cannot read an event, and for a day no version could: {}", this.name, reason);
			return new Outcome.Reject(reason);
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
			return failed(event, ex);
		}
		finally {
			// An interrupt flag left by a handler would abort the next statement.
			boolean unused = Thread.interrupted();
		}
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

	private Outcome failed(SerializedEvent event, Throwable failure) {
		String kind = failure.getClass().getName();
		// A message could contain a part of the event.
		logger.warn("The handler {} has failed with {} (attempt {}); the event is handled again, or becomes dead",
				this.name, kind, event.attempts());
		logger.debug("The stack trace of the failure above", failure);
		return new Outcome.Retry((failure instanceof AdviceException) ? String.valueOf(failure.getMessage())
				: "The handler failed with " + kind, null);
	}

}
