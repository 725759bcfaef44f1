package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.concurrent.Observers;
import dev.idempotent.concurrent.Workers;
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

	/**
	 * A listener is not interrupted, however long it takes.
	 */
	private static final Duration MAX_STOP = Duration.ofDays(1);

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamListenerContainer.class);

	private final ConfigurableListableBeanFactory beans;

	private final Supplier<DedicatedRedisConnections> connector;

	private final Duration minIdleTime;

	private final int maxDeliveries;

	private final RedeliveryPolicy redelivery;

	private final @Nullable PayloadConverter converter;

	private List<Subscription> subscriptions = List.of();

	private Observers<StreamObserver> observers = observers(List.of());

	private @Nullable StreamObservation observation;

	private volatile @Nullable StreamInspector inspector;

	private @Nullable DedicatedRedisConnections connections;

	private volatile @Nullable Running running;

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
		this.subscriptions = Subscription.findAll(this.beans, this.converter);
		if (!this.subscriptions.isEmpty()) {
			this.connections = this.connector.get();
			this.inspector = new StreamInspector(this.subscriptions, this.connections);
			this.observers = observers(this.beans.getBeanProvider(StreamObserver.class).orderedStream().toList());
			this.observation = this.beans.getBeanProvider(StreamObservation.class).getIfUnique();
			List<ConsumerGroup> groups = this.subscriptions.stream().map(Subscription::consumerGroup).toList();
			this.observers.each((observer) -> observer.listening(groups));
		}
	}

	private static Observers<StreamObserver> observers(List<StreamObserver> observers) {
		return new Observers<>(observers, logger, "An observer of the @RedisStreamListener methods",
				"entries are processed nevertheless");
	}

	@Override
	public void start() {
		if (this.connections != null && this.running == null) {
			logger.info("Starting stream listeners: {}", this.subscriptions);
			this.running = new Running(this.connections);
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
		Running current = this.running;
		return (current != null) ? current.outages.unreachableFor() : null;
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
		Running stopping = this.running;
		if (stopping != null) {
			stopping.stop();
			this.running = null;
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
		return this.running != null;
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

	/**
	 * The running workers of all subscriptions, between one start and the next stop.
	 */
	private final class Running {

		private final Workers workers = new Workers(false);

		private final Workers renewals = new Workers(true);

		private final List<Worker> all = new ArrayList<>();

		private final DedicatedRedisConnections connections;

		private final StreamOutages outages = new StreamOutages();

		Running(DedicatedRedisConnections connections) {
			this.connections = connections;
			RedisStreamListenerContainer container = RedisStreamListenerContainer.this;
			for (Subscription subscription : container.subscriptions) {
				for (int i = 0; i < subscription.concurrency(); i++) {
					EntryDelivery delivery = new EntryDelivery(subscription, container.minIdleTime,
							container.maxDeliveries, container.redelivery, container.observers, container.observation);
					Worker worker = new Worker(subscription, connections, delivery, container.minIdleTime, this.outages,
							this.workers);
					this.all.add(worker);
					this.workers.start("stream-" + subscription.stream() + "-" + (i + 1), worker::run, worker::recover);
				}
			}
			Duration period = container.minIdleTime.dividedBy(3);
			this.renewals.start("stream-renewal", () -> {
				this.renewals.pause(period);
				renew();
			}, (failure) -> logger.error("The entries in progress could not be renewed", failure));
		}

		/**
		 * Starts no further call and waits for those in progress.
		 */
		void stop() {
			boolean unusedWorkers = this.workers.stop(MAX_STOP);
			boolean unusedRenewals = this.renewals.stop(MAX_STOP);
		}

		/**
		 * Resets the idle time of entries that are being processed, so that no other
		 * consumer claims them, however long processing takes. A stream whose group is
		 * missing or whose shard is unavailable is skipped after its first failure, so
		 * that it does not delay the other streams.
		 */
		private void renew() {
			Set<String> failed = new HashSet<>();
			for (Worker worker : this.all) {
				if (!failed.contains(worker.stream()) && !isRenewed(worker)) {
					failed.add(worker.stream());
				}
			}
		}

		private boolean isRenewed(Worker worker) {
			try {
				return this.connections.use((connection) -> {
					worker.renew(connection);
					return true;
				});
			}
			catch (RuntimeException | Error ex) {
				// The worker reports the outage itself.
				logger.debug("The current entries of stream {} were not renewed", worker.stream(), ex);
				return false;
			}
		}

	}

}
