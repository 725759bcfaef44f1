package dev.idempotent.autoconfigure.saga;

import java.util.Collection;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.saga.engine.SagaDefinition;
import dev.idempotent.saga.engine.SagaEngine;
import dev.idempotent.saga.method.SagaMethods;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the workers of an application that has sagas, and stops them before the beans
 * that sagas use. Without sagas, it creates nothing.
 */
final class SagaLifecycle implements SmartLifecycle {

	/**
	 * Stops after the web server and the listeners, which call sagas, and before the
	 * outbox, to which sagas append.
	 */
	private static final int PHASE = 2048;

	private static final Logger logger = LoggerFactory.getLogger(SagaLifecycle.class);

	private final SagaMethods methods;

	private final ObjectProvider<SagaEngine> engine;

	private final ObjectProvider<TableSweeper> sweeper;

	private boolean running;

	SagaLifecycle(SagaMethods methods, ObjectProvider<SagaEngine> engine, ObjectProvider<TableSweeper> sweeper) {
		this.methods = methods;
		this.engine = engine;
		this.sweeper = sweeper;
	}

	@Override
	public synchronized void start() {
		Collection<SagaDefinition> served = this.methods.definitions();
		if (!this.running && !served.isEmpty()) {
			this.engine.getObject().open(served);
			this.sweeper.getObject().start();
			this.running = true;
			logger.info("Sagas: {}",
					served.stream()
						.map((saga) -> saga.name() + " (timeout " + saga.timeout() + ")")
						.collect(Collectors.joining(", ")));
		}
	}

	@Override
	public synchronized void stop() {
		if (this.running) {
			this.engine.getObject().close();
			this.sweeper.getObject().close();
			this.running = false;
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.running;
	}

	/**
	 * An engine that is closed cannot be opened again.
	 */
	@Override
	public boolean isPauseable() {
		return false;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
