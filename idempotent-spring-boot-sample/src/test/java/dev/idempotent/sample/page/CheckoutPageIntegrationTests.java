package dev.idempotent.sample.page;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("long")
@ShopTest
class CheckoutPageIntegrationTests {

	private static final String ONCE = "1 order, 1 charge, 10 points.";

	private static final String UNDONE = "0 orders, 1 rejected order, 1 charge, 1 refund, 0 points.";

	private static final String CRASHED = "✓ Process \\d+ crashed after the charge, another one finished the checkout: ";

	private final ShopPage page;

	CheckoutPageIntegrationTests(@LocalServerPort int port) throws IOException {
		this.page = new ShopPage(port);
	}

	@AfterEach
	void close() {
		this.page.close();
	}

	@Test
	void showsTheStepsBeforeTheFirstCheckout() {
		assertThat(this.page.texts("#saga-steps h3")).containsExactly("Order", "Payment", "Points");
		assertThat(this.page.texts("#saga-steps .saga-state")).containsOnly("Not begun");
		assertThat(this.page.isHidden("saga-halted")).isTrue();
	}

	@Test
	void drawsTheStepsAsTheyHappen(@Autowired DataSource dataSource) throws IOException, SQLException {
		choose("crash", "");
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			// The gateway cannot charge until the page has shown that it is asked to.
			connection.createStatement().execute("lock table charges in share mode");
			this.page.click("check-out");
			awaitStates("Done", "Acting", "Not begun");
		}
		awaitStates("Done", "Done", "Done");
		this.page.awaitProof("saga", ("✓ The checkout is complete: " + ONCE)::equals);
	}

	@Test
	void drawsHowStepsAreUndone() throws IOException {
		choose("crash", "");
		this.page.choose("outcome", "refused");
		this.page.click("check-out");
		this.page.awaitProof("saga", ("✓ The checkout is undone: " + UNDONE)::equals);
		awaitStates("Undone", "Undone", "Undone");
	}

	@Test
	void showsACheckoutThatWaitsForTheBank() throws IOException {
		this.page.tryMore("saga");
		this.page.click("wait-transfer");
		this.page.awaitProof("wait", (text) -> text.startsWith("The checkout waits for the bank, until ")
				&& text.endsWith("as a row without a thread or a connection: 1 order, 0 charges, 0 points."));
		this.page.click("wait-signal");
		this.page.awaitProof("wait",
				("✓ ACCEPTED; then ACCEPTED, the stored response. The checkout is complete: " + ONCE)::equals);
	}

	@Test
	void showsACheckoutThatIsCancelledWhileItWaits() throws IOException {
		this.page.tryMore("saga");
		this.page.click("wait-invoice");
		this.page.awaitProof("wait", (text) -> text.startsWith("The checkout waits for an approval, until "));
		this.page.click("wait-cancel");
		this.page.awaitProof("wait", ("✓ Cancelled: COMPENSATING. The checkout is undone: "
				+ "0 orders, 1 rejected order, 0 charges, 0 points.")::equals);
	}

	@Test
	void showsThatAnotherProcessFinishesWhatACrashedOneHasBegun() throws IOException {
		this.page.click("check-out");
		awaitCrash(this.page);
		assertThat(log()).anyMatch((text) -> text.endsWith("crashes: after the charge"));
	}

	@Test
	void checksOutAgainIfTheSecondProcessDoesNotGetTheCheckout() throws IOException {
		this.page.run("""
				const startUrlOfCrash = startUrl;
				startUrl = (crash) => {
				  startUrl = startUrlOfCrash;
				  return startUrl('');
				};
				""");
		this.page.click("check-out");
		this.page.awaitTexts("#saga-log span", (texts) -> texts.stream()
			.anyMatch((text) -> text.startsWith("Another JVM was faster than the second one")));
		awaitCrash(this.page);
	}

	@Test
	@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
	void waitsForASecondJvmWhileOthersAreBusy(@LocalServerPort int port) throws IOException {
		try (ShopPage first = new ShopPage(port); ShopPage second = new ShopPage(port)) {
			for (ShopPage busy : List.of(first, second)) {
				busy.tryMore("saga");
				busy.choose("crash", "pause");
				busy.click("check-out");
				busy.awaitProof("saga", (text) -> text.startsWith("Running"));
			}
			this.page.click("check-out");
			awaitCrash(this.page);
			assertThat(log()).noneMatch((text) -> text.contains("paused"));
			for (ShopPage busy : List.of(first, second)) {
				busy.awaitProof("saga", (text) -> text.matches("✓ Process \\d+ was paused, another one finished "
						+ "the checkout, and the late write was refused: " + ONCE));
			}
		}
	}

	@Test
	void choosesARefusalForACrashDuringTheRefund() throws IOException {
		choose("crash", "in-compensation");
		this.page.click("check-out");
		this.page.awaitProof("saga", (text) -> text
			.matches("✓ Process \\d+ crashed during the refund, another one undid the checkout: " + UNDONE));
	}

	@Test
	void letsTheVisitorRetryAHaltedRefund() throws IOException {
		halt();
		this.page.prove("saga-retry", "saga", "✓ The checkout is undone: " + UNDONE);
	}

	@Test
	void letsTheVisitorSkipAHaltedRefundWithANote() throws IOException {
		halt();
		this.page.type("saga-note", "Paid back in cash");
		this.page.click("saga-skip");
		awaitStates("Undone", "Undone by hand", "Undone");
		assertThat(this.page.texts("#saga-steps p")).contains("Paid back in cash");
		this.page.awaitProof("saga", "The checkout is undone, partly by hand: "
			.concat("0 orders, 1 rejected order, 1 charge, 0 points.")::equals);
	}

	private void choose(String name, String value) throws IOException {
		this.page.tryMore("saga");
		this.page.choose(name, value);
	}

	private void halt() throws IOException {
		choose("crash", "");
		this.page.choose("outcome", "halted");
		this.page.click("check-out");
		this.page.awaitProof("saga", (text) -> text.startsWith("✗ Halted: an operator must decide. "));
		assertThat(this.page.isHidden("saga-halted")).isFalse();
	}

	private static void awaitCrash(ShopPage page) {
		page.awaitProof("saga", (text) -> text.matches(CRASHED + ONCE));
	}

	private List<String> log() {
		return this.page.texts("#saga-log span");
	}

	private void awaitStates(String... states) {
		this.page.awaitTexts("#saga-steps .saga-state", states);
	}

}
