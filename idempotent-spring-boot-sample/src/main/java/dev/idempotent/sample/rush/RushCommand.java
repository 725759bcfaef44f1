package dev.idempotent.sample.rush;

import java.io.PrintStream;

import org.springframework.boot.ExitCodeGenerator;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Runs a rush when the shop is ready, prints the verdict and ends the shop, with 0 if
 * every promise was kept.
 */
@Component
@ConditionalOnProperty("sample.rush.users")
class RushCommand {

	private final Rushes rushes;

	private final RushProperties properties;

	RushCommand(Rushes rushes, RushProperties properties) {
		this.rushes = rushes;
		this.properties = properties;
	}

	@EventListener
	void onReady(ApplicationReadyEvent event) {
		ExitCodeGenerator outcome = () -> run(System.out) ? 0 : 1;
		int code = outcome.getExitCode();
		System.exit(SpringApplication.exit(event.getApplicationContext(), () -> code));
	}

	/**
	 * Runs the rush and prints its figures and the verdict.
	 * @return whether every promise was kept
	 */
	boolean run(PrintStream out) {
		Rush rush = this.rushes.of(this.properties.users(), this.properties.stock(), this.properties.perUser(), false);
		out.printf("%d users want %d units of %s, %d for each user at most%n", this.properties.users(),
				this.properties.stock(), rush.item(), this.properties.perUser());
		rush.open();
		rush.run();
		RushView view = rush.view();
		out.printf("answers           %s, %d of them replayed%n", view.answers(), view.replayed());
		out.printf("decided           %d per second%n", view.perSecond());
		out.printf("accepted, ms      p50 %.1f, p99 %.1f%n", view.acceptedMillis().p50(), view.acceptedMillis().p99());
		out.printf("refused, ms       p50 %.1f, p99 %.1f%n", view.refusedMillis().p50(), view.refusedMillis().p99());
		Verdict verdict = rush.verdict();
		verdict.lines()
			.forEach((line) -> out.printf("%d %-7s %s%s%n", line.number(), line.state(), line.rule(),
					line.detail().isEmpty() ? "" : ": " + line.detail()));
		out.println("Compared with a sale that updates one row for each unit, medians of rounds in turn:");
		new Comparison(this.rushes).run().forEach(out::println);
		return verdict.holds();
	}

}
