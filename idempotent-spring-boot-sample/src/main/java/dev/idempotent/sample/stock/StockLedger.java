package dev.idempotent.sample.stock;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * The stock in PostgreSQL, which decides about each unit.
 */
@Repository
public class StockLedger {

	/**
	 * Ends reads of a table that is locked, so that they do not use up all threads.
	 */
	private static final int TIMEOUT_SECONDS = 5;

	private final JdbcClient jdbc;

	StockLedger(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Opens a sale in the caller's transaction.
	 * @return whether the item had no sale yet
	 */
	@Transactional(propagation = Propagation.MANDATORY)
	public boolean open(FlashSale sale) {
		boolean opened = this.jdbc.sql("""
				insert into flash_sale (item, stock, per_user) values (:item, :stock, :perUser)
				on conflict do nothing
				""").paramSource(sale).update() == 1;
		if (opened) {
			this.jdbc.sql("""
					insert into stock_shelf (item, shelf, total)
					select :item, shelf, (:stock + shelves - shelf) / shelves
					from least(16, :stock) as shelves, generate_series(1, shelves) as shelf
					""").paramSource(sale).update();
		}
		return opened;
	}

	/**
	 * Returns the units of a sale, or nothing if the item has none.
	 */
	public Optional<StockView> view(String item) {
		return read("""
				select stock, per_user, stock - taken as free, taken - confirmed as held, confirmed
				from flash_sale,
				  (select sum(taken) as taken from stock_shelf where item = :item) as shelves,
				  (select count(*) as confirmed from reservation where item = :item and state = 'CONFIRMED') as orders
				where item = :item
				""").param("item", item)
			.query((row, number) -> new StockView(new FlashSale(item, row.getInt("stock"), row.getInt("per_user")),
					row.getInt("free"), row.getInt("held"), row.getInt("confirmed")))
			.optional();
	}

	/**
	 * Returns the items that are on sale.
	 */
	List<String> items() {
		return read("select item from flash_sale").query(String.class).list();
	}

	/**
	 * Returns what is committed about a sale, as one statement sees it, or nothing if the
	 * item has none.
	 * @param allOwners whether to return all owners with live reservations, or only those
	 * who have changed within the last minute
	 */
	Optional<StockFacts> facts(String item, boolean allOwners) {
		return facts(item, null, allOwners ? "cardinality(ids) > 0" : "changed_at > now() - interval '1 minute'");
	}

	/**
	 * Returns what is committed about the shelves of a sale and one of its owners, or
	 * nothing if the item has no sale.
	 */
	Optional<StockFacts> facts(String item, String owner) {
		return facts(item, owner, "owner = :owner");
	}

	/**
	 * Returns the reservation with the given id.
	 */
	Optional<Reservation> find(String reservationId) {
		return read("select * from reservation where reservation_id = :id").param("id", reservationId)
			.query(Reservation.class)
			.optional();
	}

	/**
	 * Returns at most so many ids of held reservations that have expired, in random
	 * order: instances seldom meet, and one that cannot be ended does not stop the
	 * others.
	 */
	List<String> expired(int limit) {
		return read("""
				select reservation_id from reservation where state = 'HELD' and expires_at <= now()
				order by random() limit :limit
				""").param("limit", limit).query(String.class).list();
	}

	private Optional<StockFacts> facts(String item, @Nullable String owner, String owners) {
		List<Integer> perUser = new ArrayList<>();
		List<StockFacts.Shelf> shelves = new ArrayList<>();
		List<StockFacts.Owner> found = new ArrayList<>();
		read("""
				select per_user, shelf, version, total - taken as free, null as owner, null as ids
				from flash_sale join stock_shelf using (item) where item = :item
				union all
				select null, null, version, null, owner, ids from stock_owner where item = :item and %s
				""".formatted(owners)).param("item", item).param("owner", owner).query((row) -> {
			if (row.getString("owner") != null) {
				found.add(owner(row));
				return;
			}
			perUser.add(row.getInt("per_user"));
			shelves.add(shelf(row));
		});
		return perUser.stream().findFirst().map((limit) -> new StockFacts(limit, shelves, found));
	}

	private JdbcClient.StatementSpec read(String sql) {
		return this.jdbc.sql(sql).withQueryTimeout(TIMEOUT_SECONDS);
	}

	static StockFacts.Shelf shelf(ResultSet row) throws SQLException {
		return new StockFacts.Shelf(row.getInt("shelf"), row.getLong("version"), row.getInt("free"));
	}

	static StockFacts.Owner owner(ResultSet row) throws SQLException {
		return new StockFacts.Owner(row.getString("owner"), row.getLong("version"),
				List.of((String[]) row.getArray("ids").getArray()));
	}

}
