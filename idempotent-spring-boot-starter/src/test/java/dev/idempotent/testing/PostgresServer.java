package dev.idempotent.testing;

import java.util.List;
import java.util.stream.Stream;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/**
 * A PostgreSQL on a port that it keeps for life. Starting and stopping are repeatable,
 * and what was committed outlives them.
 */
interface PostgresServer extends AutoCloseable {

	/**
	 * Starts a server.
	 * @param settings that other tests do not have, as {@code name=value}
	 */
	static PostgresServer started(List<String> settings) {
		PostgresServer server = TestServices.inContainer(Container.IMAGE) ? new Container(settings)
				: new PostgresProcess(settings);
		server.start();
		return server;
	}

	String host();

	int port();

	void start();

	/**
	 * Ends all sessions, then the server.
	 */
	void stop();

	/**
	 * Ends the server at once, as a power cut would.
	 */
	void kill();

	@Override
	void close();

	/**
	 * PostgreSQL in a container, which is stopped and started and not replaced.
	 */
	final class Container extends ContainerServer implements PostgresServer {

		static final String IMAGE = "postgres:17-alpine";

		private static final int POSTGRES_PORT = 5432;

		Container(List<String> settings) {
			super(new GenericContainer<>(IMAGE).withCommand(command(settings))
				.withEnv("POSTGRES_PASSWORD", RealPostgres.PASSWORD)
				.waitingFor(Wait.forLogMessage(".*database system is ready to accept connections.*\\n", 2)),
					POSTGRES_PORT);
		}

		private static String[] command(List<String> settings) {
			return Stream
				.concat(Stream.of("postgres"), settings.stream().flatMap((setting) -> Stream.of("-c", setting)))
				.toArray(String[]::new);
		}

		@Override
		public void start() {
			if (container().getContainerId() == null) {
				container().start();
			}
			else {
				container().getDockerClient().startContainerCmd(container().getContainerId()).exec();
			}
		}

		@Override
		public void stop() {
			container().getDockerClient().stopContainerCmd(container().getContainerId()).exec();
		}

		@Override
		public void kill() {
			container().getDockerClient().killContainerCmd(container().getContainerId()).exec();
		}

		@Override
		public void close() {
			container().stop();
		}

	}

}
