package dev.idempotent.sample.rush;

import java.io.PrintStream;

import dev.idempotent.sample.rush.RushPlan.Behaviour;
import dev.idempotent.sample.rush.RushTally.Figures;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Runs a rush when the shop is ready, prints the verdict and ends the shop, with 0 if
 * every promise was kept.
 */
@Component
@ConditionalOnProperty("sample.rush.users")
class RushCommand {

	private static final String FAILURES = "org.apache.catalina.core.ContainerBase.[Tomcat].[localhost].[/].[dispatcherServlet]";

	private final Rushes rushes;

	private final RushProperties properties;

	private final LoggingSystem logging;

	RushCommand(Rushes rushes, RushProperties properties, LoggingSystem logging) {
		this.rushes = rushes;
		this.properties = properties;
		this.logging = logging;
	}

	@EventListener
	void run(ApplicationReadyEvent event) {
		// The stack traces of failures on purpose would hide the verdict.
		this.logging.setLogLevel(FAILURES, LogLevel.OFF);
		int code = run(System.out) ? 0 : 1;
		System.exit(SpringApplication.exit(event.getApplicationContext(), () -> code));
	}

	/**
	 * Runs the rush, and prints its figures and the verdict.
	 * @return whether every promise was kept
	 */
	boolean run(PrintStream out) {
		int users = this.properties.users();
		int stock = this.properties.stock();
		int perUser = this.properties.perUser();
		warmUp(Math.min(users, 1_000));
		Rush rush = this.rushes.ofPeople(users, stock, perUser);
		out.printf("%d users want %d units of %s, %d for each user%n", users, stock, rush.item(), perUser);
		rush.open();
		rush.run();
		print(rush.figures(), out);
		Verdict verdict = rush.verdict();
		verdict.lines().forEach(out::println);
		return verdict.holds();
	}

	private void warmUp(int users) {
		Rush rush = this.rushes.of(users, users, Behaviour.RESERVE, false);
		rush.open();
		rush.run();
	}

	private static void print(Figures figures, PrintStream out) {
		out.printf("answers       %s, %d of them replayed%n", figures.answers(), figures.replayed());
		out.printf("decided       %d per second%n", figures.perSecond());
		out.printf("accepted, ms  p50 %.1f, p99 %.1f%n", figures.acceptedMillis().p50(),
				figures.acceptedMillis().p99());
		out.printf("refused, ms   p50 %.1f, p99 %.1f%n", figures.refusedMillis().p50(), figures.refusedMillis().p99());
	}

}
