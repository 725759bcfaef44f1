package dev.idempotent.benchmark.http.application;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.text.ParseException;

import javax.management.JMException;

import com.sun.management.ThreadMXBean;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Runs an application and tells what it has used so far.
 */
public final class MeasuredApplication {

	private static final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

	private MeasuredApplication() {
	}

	/**
	 * Starts the application and tells its port. Each line {@code usage} is answered with
	 * the bytes that its threads have allocated and the number of receipts;
	 * {@code record} with a file begins a recording of the flight recorder that ends with
	 * the JVM.
	 * @param arguments the name of the configuration, then options of Spring Boot
	 * @throws Exception if the application does not start
	 */
	public static void main(String[] arguments) throws Exception {
		ParentJvm parent = ParentJvm.connect();
		ConfigurableApplicationContext context = new SpringApplication(Class.forName(arguments[0])).run(arguments);
		parent.tell(context.getEnvironment().getRequiredProperty("local.server.port"));
		parent.serve((line) -> line.equals("usage") ? allocatedBytes() + " " + Receipt.given()
				: record(Path.of(line.substring("record ".length()))));
	}

	/**
	 * A JDK before 21 sums over the threads that there are. Those of the web server and
	 * the clients stay, so the difference of two sums is what was allocated in between.
	 */
	private static long allocatedBytes() {
		if (Runtime.version().feature() >= 21) {
			return total();
		}
		long sum = 0;
		for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
			sum += Math.max(0, bytes);
		}
		return sum;
	}

	private static long total() {
		try {
			return (long) ManagementFactory.getPlatformMBeanServer()
				.getAttribute(threads.getObjectName(), "TotalThreadAllocatedBytes");
		}
		catch (JMException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String record(Path file) {
		try {
			Recording recording = new Recording(Configuration.getConfiguration("profile"));
			recording.setDestination(file);
			recording.setDumpOnExit(true);
			recording.start();
			return "recording";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (ParseException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
