package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.redis.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Calls the {@link RedisStreamListener} methods of an application. Starts after and stops
 * before the other lifecycle beans, so that the dependencies of listeners are available
 * while they run.
 */
public final class RedisStreamListenerContainer implements SmartInitializingSingleton, SmartLifecycle, AutoCloseable {

	/**
	 * Stops before web servers, relays and connection factories.
	 */
	private static final int PHASE = DEFAULT_PHASE - 100;

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamListenerContainer.class);

	private final ConfigurableListableBeanFactory beans;

	private final Supplier<DedicatedRedisConnections> connector;

	private final Duration minIdleTime;

	private final int maxDeliveries;

	private final RedeliveryPolicy redelivery;

	private final @Nullable PayloadConverter converter;

	private List<Subscription> subscriptions = List.of();

	private EntryObservers observers = new EntryObservers(List.of(), null);

	private volatile @Nullable StreamInspector inspector;

	private @Nullable DedicatedRedisConnections connections;

	private volatile @Nullable WorkerGroup workers;

	/**
	 * Creates a container.
	 * @param beans the bean factory to search for listeners
	 * @param connector called once, before the first start, if there are listeners
	 * @param minIdleTime the idle time after which a pending entry is claimed by another
	 * consumer, and the longest backoff
	 * @param maxDeliveries how often an entry is delivered before it is moved to the
	 * dead-letter stream; at least 1
	 * @param redelivery classifies failures
	 * @param converter converts payloads, or {@code null} to support only {@code byte[]}
	 * and {@code String}
	 */
	public RedisStreamListenerContainer(ConfigurableListableBeanFactory beans,
			Supplier<DedicatedRedisConnections> connector, Duration minIdleTime, int maxDeliveries,
			RedeliveryPolicy redelivery, @Nullable PayloadConverter converter) {
		this.beans = beans;
		this.connector = connector;
		this.minIdleTime = minIdleTime;
		this.maxDeliveries = maxDeliveries;
		this.redelivery = redelivery;
		this.converter = converter;
	}

	/**
	 * Finds the listeners and the observers.
	 * @throws IdempotentConfigurationException if a listener method is not supported, or
	 * the application's Redis client is not
	 */
	@Override
	public void afterSingletonsInstantiated() {
		this.subscriptions = new SubscriptionScanner(this.beans, this.converter).scan();
		if (!this.subscriptions.isEmpty()) {
			this.connections = this.connector.get();
			this.inspector = new StreamInspector(this.subscriptions, this.connections);
			this.observers = new EntryObservers(
					this.beans.getBeanProvider(StreamObserver.class).orderedStream().toList(),
					this.beans.getBeanProvider(StreamObservation.class).getIfUnique());
			this.observers.listening(this.subscriptions.stream().map(Subscription::consumerGroup).toList());
		}
	}

	@Override
	public void start() {
		if (this.connections != null && this.workers == null) {
			logger.info("Starting stream listeners: {}", this.subscriptions);
			this.workers = new WorkerGroup(this.connections, this.subscriptions, this.minIdleTime, this.maxDeliveries,
					this.redelivery, this.observers);
		}
	}

	/**
	 * Reads the state of the consumer groups.
	 * @return {@code null} if this process listens to no stream
	 */
	public @Nullable StreamInspector inspector() {
		return this.inspector;
	}

	/**
	 * How long Redis has been unreachable for the listeners.
	 * @return {@code null} if it is reachable or the container does not run
	 */
	public @Nullable Duration unreachableFor() {
		WorkerGroup running = this.workers;
		return (running != null) ? running.unreachableFor() : null;
	}

	/**
	 * The idle time after which a pending entry is claimed by another consumer.
	 * @return the same as for the constructor
	 */
	public Duration minIdleTime() {
		return this.minIdleTime;
	}

	/**
	 * How often an entry is delivered before it is moved to the dead-letter stream.
	 * @return the same as for the constructor
	 */
	public int maxDeliveries() {
		return this.maxDeliveries;
	}

	/**
	 * Waits for the calls in progress.
	 */
	@Override
	public void stop() {
		WorkerGroup stopping = this.workers;
		if (stopping != null) {
			stopping.stop();
			this.workers = null;
		}
	}

	@Override
	public void stop(Runnable callback) {
		Thread thread = new Thread(() -> {
			try {
				stop();
			}
			finally {
				callback.run();
			}
		}, "stream-stop");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public boolean isRunning() {
		return this.workers != null;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	@Override
	public void close() {
		if (this.connections != null) {
			this.connections.close();
		}
	}

}
