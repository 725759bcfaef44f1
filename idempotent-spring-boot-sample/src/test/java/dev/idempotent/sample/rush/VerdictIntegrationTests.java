package dev.idempotent.sample.rush;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.rush.Verdict.Line;
import dev.idempotent.sample.rush.Verdict.State;
import dev.idempotent.sample.stock.GateView;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each test tells one lie about a sale of four units on two shelves, one for each user:
 * two are ordered, one was released.
 */
@ShopTest
class VerdictIntegrationTests {

	private final String item = "item-" + UUID.randomUUID();

	private final Map<String, String> told = new HashMap<>();

	private final Map<String, Integer> keys = new HashMap<>(Map.of("one-more", 1));

	private final JdbcClient jdbc;

	private final PlatformTransactionManager transactions;

	private int gate = 2;

	VerdictIntegrationTests(@Autowired JdbcClient jdbc, @Autowired PlatformTransactionManager transactions) {
		this.jdbc = jdbc;
		this.transactions = transactions;
	}

	@BeforeEach
	void sell() {
		update("insert into flash_sale (item, stock, per_user) values (:item, 4, 1)");
		update("insert into stock_shelf (item, shelf, total) values (:item, 1, 2), (:item, 2, 2)");
		bought("ann", 1);
		bought("bob", 2);
		takeOf(1);
		takeOf(2);
		reserved("carl", 1, "ENDED", null);
	}

	/**
	 * Other tests count the orders and events of the shop.
	 */
	@AfterEach
	void forget() {
		Stream
			.of("notification where order_id in (select order_id from orders where item = :item)",
					"reservation where item = :item", "orders where item = :item", "stock_owner where item = :item",
					"stock_shelf where item = :item", "flash_sale where item = :item")
			.forEach((rows) -> this.jdbc.sql("delete from " + rows).param("item", this.item).update());
	}

	@Test
	void holdsWithoutALie() {
		assertThat(verdict().holds()).as(verdict().toString()).isTrue();
		assertThat(verdict().settled()).isTrue();
	}

	@Test
	void findsAUnitWithoutAReservation() {
		takeOf(2);
		this.gate--;
		assertBroken(1);
	}

	@Test
	void findsTwoReservationsOfOneUnit() {
		bought("dora", 1);
		assertBroken(1);
	}

	@Test
	void findsAReservationOfNoShelf() {
		bought("dora", 3);
		assertBroken(1);
	}

	@Test
	void findsASaleWithoutUnits() {
		update("delete from stock_shelf where item = :item");
		assertThat(in(State.BROKEN)).contains(1);
	}

	@Test
	void findsAnOrderWithoutAReservation() {
		notified(ordered("dora"));
		assertBroken(2);
	}

	@Test
	void findsAReservationThatHasTheOrderOfAnother() {
		update("update orders set user_id = 'dora' where item = :item and user_id = 'ann'");
		assertBroken(2);
	}

	@Test
	void findsAnOwnerAboveTheLimit() {
		bought("ann", 1);
		takeOf(1);
		this.gate--;
		assertBroken(3);
	}

	@Test
	void findsAListThatLacksAReservation() {
		update("update stock_owner set ids = '{}' where item = :item and owner = 'ann'");
		assertBroken(3);
	}

	@Test
	void findsAPromisedReservationThatIsLost() {
		this.told.put(ShopClient.newKey(), "ann");
		assertBroken(4);
	}

	@Test
	void findsASecondReservationOfOneKey() {
		reserved("ann", 1, "ENDED", null);
		this.keys.put("ann", 1);
		assertBroken(4);
	}

	@Test
	void findsAnEventThatWasHandledTwice() {
		update("insert into notification (event_id, order_id, type, text) select event_id, order_id, type, text "
				+ "from notification where order_id in (select order_id from orders where item = :item) limit 1");
		assertBroken(5);
	}

	@Test
	void findsAnOrderWithoutANotification() {
		update("delete from notification where order_id in (select order_id from orders where item = :item)");
		assertBroken(5);
	}

	@Test
	void findsUnitsOfTheGateThatAreOffByOne() {
		this.gate++;
		assertBroken(6);
	}

	@Test
	void waitsForTheEndOfAHold() {
		reserved("dora", 1, "HELD", null);
		update("update reservation set expires_at = now() + interval '1 hour' where item = :item and state = 'HELD'");
		takeOf(1);
		this.gate--;
		assertThat(in(State.HOLDS)).containsExactly(1, 2, 3);
		assertThat(in(State.WAITING)).containsExactly(4, 5, 6);
		assertThat(verdict().settled()).isFalse();
	}

	private void bought(String user, int shelf) {
		UUID order = ordered(user);
		notified(order);
		reserved(user, shelf, "CONFIRMED", order);
	}

	private UUID ordered(String user) {
		return this.jdbc.sql(
				"insert into orders (order_id, user_id, item, amount) values (:id, :user, :item, 1) returning order_id")
			.param("id", UUID.randomUUID())
			.param("user", user)
			.param("item", this.item)
			.query(UUID.class)
			.single();
	}

	private void notified(UUID order) {
		this.jdbc
			.sql("insert into notification (event_id, order_id, type, text) values (:id, :id, 'order.created', '')")
			.param("id", order)
			.update();
	}

	/**
	 * Adds a reservation with all that belongs to it, except for its unit.
	 */
	private void reserved(String user, int shelf, String state, @Nullable UUID order) {
		String id = ShopClient.newKey();
		this.jdbc.sql("""
				insert into reservation (reservation_id, item, owner, shelf, state, expires_at, order_id)
				values (:id, :item, :user, :shelf, :state, now() - interval '1 hour', :order)
				""")
			.param("id", id)
			.param("item", this.item)
			.param("user", user)
			.param("shelf", shelf)
			.param("state", state)
			.param("order", order)
			.update();
		this.told.put(id, user);
		this.keys.merge(user, 1, Integer::sum);
		this.jdbc
			.sql("""
					insert into stock_owner (item, owner, ids) select :item, :user, array_agg(reservation_id) from reservation
					where item = :item and owner = :user and state <> 'ENDED' having count(*) > 0
					on conflict (item, owner) do update set ids = excluded.ids
					""")
			.param("item", this.item)
			.param("user", user)
			.update();
	}

	private void takeOf(int shelf) {
		this.jdbc.sql("update stock_shelf set taken = taken + 1 where item = :item and shelf = :shelf")
			.param("item", this.item)
			.param("shelf", shelf)
			.update();
	}

	private void update(String sql) {
		assertThat(this.jdbc.sql(sql).param("item", this.item).update()).isPositive();
	}

	private Verdict verdict() {
		Recheck recheck = new Recheck(List.of(), this.told, Set.of(), Set.of(), this.keys, true);
		return new SaleAuditor(this.jdbc, this.transactions, (asked) -> Optional.of(new GateView(this.gate, 0)))
			.audit(this.item, recheck)
			.verdict();
	}

	private void assertBroken(int line) {
		assertThat(in(State.BROKEN)).as(verdict().toString()).containsExactly(line);
		assertThat(in(State.HOLDS)).hasSize(5);
		assertThat(verdict().holds()).isFalse();
	}

	private List<Integer> in(State state) {
		return verdict().lines().stream().filter((line) -> line.state() == state).map(Line::number).toList();
	}

}
