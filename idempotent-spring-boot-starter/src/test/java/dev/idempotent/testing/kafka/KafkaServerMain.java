package dev.idempotent.testing.kafka;

import java.io.IOException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import kafka.Kafka;
import org.slf4j.LoggerFactory;

/**
 * Runs Kafka's server until the process that started it has ended.
 */
public final class KafkaServerMain {

	private KafkaServerMain() {
	}

	/**
	 * Starts the server.
	 * @param arguments the file with its settings
	 */
	public static void main(String[] arguments) {
		((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
		Thread end = new Thread(KafkaServerMain::endWithParent, "parent");
		end.setDaemon(true);
		end.start();
		Kafka.main(arguments);
	}

	private static void endWithParent() {
		try {
			while (System.in.read() >= 0) {
				// Its end is the end of the parent.
			}
		}
		catch (IOException ex) {
			// So is this.
		}
		Runtime.getRuntime().halt(0);
	}

}
