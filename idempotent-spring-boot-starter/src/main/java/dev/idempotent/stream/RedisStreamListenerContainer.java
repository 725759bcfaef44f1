package dev.idempotent.stream;

import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.lettuce.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Serves the {@link RedisStreamListener} methods of an application. Starts after all
 * others and stops before them: what listeners use is there as long as they run.
 */
public final class RedisStreamListenerContainer implements SmartInitializingSingleton, SmartLifecycle, AutoCloseable {

	/**
	 * Stops before web servers, relays and connection factories do.
	 */
	private static final int PHASE = DEFAULT_PHASE - 100;

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamListenerContainer.class);

	private final ConfigurableListableBeanFactory beans;

	private final Supplier<DedicatedRedisConnections> connector;

	private final StreamListenerSettings settings;

	private final RedeliveryPolicy postponement;

	private final @Nullable PayloadConverter conversion;

	private List<Subscription> subscriptions = List.of();

	private @Nullable DedicatedRedisConnections connections;

	private volatile @Nullable WorkerGroup shift;

	/**
	 * Creates an inbox.
	 * @param beans the application
	 * @param connector called once, at the first start, if there are listeners
	 * @param settings what holds for all listeners
	 * @param postponement knows failures that are not an entry's fault
	 * @param conversion reads payloads, or {@code null} if they can be taken as bytes or
	 * text alone
	 */
	public RedisStreamListenerContainer(ConfigurableListableBeanFactory beans,
			Supplier<DedicatedRedisConnections> connector, StreamListenerSettings settings,
			RedeliveryPolicy postponement, @Nullable PayloadConverter conversion) {
		this.beans = beans;
		this.connector = connector;
		this.settings = settings;
		this.postponement = postponement;
		this.conversion = conversion;
	}

	/**
	 * Finds the listeners.
	 * @throws IdempotentConfigurationException if one cannot be called, or Redis not be
	 * reached as it needs to
	 */
	@Override
	public void afterSingletonsInstantiated() {
		this.subscriptions = new Subscriptions(this.beans, this.conversion).find();
		if (!this.subscriptions.isEmpty()) {
			this.connections = this.connector.get();
		}
	}

	@Override
	public void start() {
		if (this.connections != null && this.shift == null) {
			logger.info("Stream: {}", this.subscriptions);
			this.shift = new WorkerGroup(this.connections, this.subscriptions, this.settings, this.postponement);
		}
	}

	/**
	 * Waits for the calls that have begun.
	 */
	@Override
	public void stop() {
		WorkerGroup ending = this.shift;
		if (ending != null) {
			ending.end();
			this.shift = null;
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
		return this.shift != null;
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
