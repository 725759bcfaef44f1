package dev.idempotent.testing;

import java.util.List;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

import org.springframework.test.util.TestSocketUtils;

/**
 * PostgreSQL in a container, which is stopped and started and not replaced.
 */
final class PostgresContainer implements PostgresServer {

	static final String IMAGE = "postgres:17-alpine";

	private static final int POSTGRES_PORT = 5432;

	private final int port = TestSocketUtils.findAvailableTcpPort();

	private final GenericContainer<?> container = new GenericContainer<>(IMAGE)
		.withEnv("POSTGRES_PASSWORD", RealPostgres.PASSWORD)
		.waitingFor(Wait.forLogMessage(".*database system is ready to accept connections.*\\n", 2));

	PostgresContainer() {
		// A port of Docker's choice would be another one after a stop.
		this.container.setPortBindings(List.of(this.port + ":" + POSTGRES_PORT));
	}

	@Override
	public String host() {
		return this.container.getHost();
	}

	@Override
	public int port() {
		return this.port;
	}

	@Override
	public void start() {
		if (this.container.getContainerId() == null) {
			this.container.start();
		}
		else {
			this.container.getDockerClient().startContainerCmd(this.container.getContainerId()).exec();
		}
	}

	@Override
	public void stop() {
		this.container.getDockerClient().stopContainerCmd(this.container.getContainerId()).exec();
	}

	@Override
	public void kill() {
		this.container.getDockerClient().killContainerCmd(this.container.getContainerId()).exec();
	}

	@Override
	public void close() {
		this.container.stop();
	}

}
