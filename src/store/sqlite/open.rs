//! Opening a data folder, and what may keep it from being opened.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    ConnectOptions, SqliteConnection, SqlitePool,
    migrate::{MigrateError, Migrator},
    sqlite::{
        SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions,
        SqliteSynchronous,
    },
};

use super::{Options, error::is_not_a_database, statements};
use crate::store::error::BoxError;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

const DATABASE: &str = "concertina.db";
const LOCK: &str = "concertina.lock";

/// Before it, the log could damage a database that two connections write to.
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];

/// Why a data folder was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder cannot be made, read or written.
    #[error("the data folder `{}` cannot be used", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Another server runs on it.
    #[error("the data folder `{}` is in use by another server", .0.display())]
    InUse(PathBuf),
    /// A newer version of this program wrote it.
    #[error("the database has migration {0}, which this version does not know: use a newer one")]
    Newer(i64),
    /// A migration was applied in another wording than this version has.
    #[error("migration {0} of the database is not the one that this version has")]
    Altered(i64),
    /// Something else lies where the database should.
    #[error("`{}` is not a database", .0.display())]
    NotADatabase(PathBuf),
    /// The library is too old to be safe.
    #[error("SQLite {found} is linked; at least 3.51.3 is needed")]
    SqliteTooOld {
        /// Its version.
        found: String,
    },
    /// Anything else.
    #[error("the database cannot be opened")]
    Backend(#[source] BoxError),
}

/// An opened data folder. The lock holds as long as the file is open.
pub(super) struct Opened {
    pub lock: File,
    pub writer: SqliteConnection,
    pub readers: SqlitePool,
}

pub(super) async fn open(folder: &Path, options: &Options) -> Result<Opened, OpenError> {
    let lock = lock(folder)?;
    let database = folder.join(DATABASE);
    let told = |err| explain(err, &database);
    let mut writer = writer_options(&database).connect().await.map_err(told)?;
    check_version(&mut writer).await?;
    MIGRATIONS.run(&mut writer).await.map_err(|err| match err {
        MigrateError::VersionMissing(version) => OpenError::Newer(version),
        MigrateError::VersionMismatch(version) => OpenError::Altered(version),
        other => OpenError::Backend(Box::new(other)),
    })?;
    for statement in statements::WRITER_SETUP.iter().copied() {
        sqlx::query(statement).execute(&mut writer).await.map_err(told)?;
    }
    let readers = SqlitePoolOptions::new()
        .max_connections(options.readers.max(1))
        // A recycled connection would lose its page cache and its statements.
        .max_lifetime(None)
        .idle_timeout(None)
        .test_before_acquire(false)
        .connect_with(reader_options(&database))
        .await
        .map_err(told)?;
    Ok(Opened { lock, writer, readers })
}

fn lock(folder: &Path) -> Result<File, OpenError> {
    let told = |source| OpenError::Folder { folder: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(told)?;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(LOCK))
        .map_err(told)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(folder.to_owned())),
        Err(TryLockError::Error(err)) => Err(told(err)),
    }
}

fn explain(err: sqlx::Error, database: &Path) -> OpenError {
    if is_not_a_database(&err) {
        OpenError::NotADatabase(database.to_owned())
    } else {
        OpenError::Backend(Box::new(err))
    }
}

async fn check_version(writer: &mut SqliteConnection) -> Result<(), OpenError> {
    let found: String = sqlx::query_scalar(statements::VERSION)
        .fetch_one(writer)
        .await
        .map_err(|err| OpenError::Backend(Box::new(err)))?;
    if is_new_enough(&found) { Ok(()) } else { Err(OpenError::SqliteTooOld { found }) }
}

fn is_new_enough(version: &str) -> bool {
    let parts: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    parts.as_slice() >= OLDEST_SQLITE.as_slice()
}

fn common_options(database: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(database)
        .busy_timeout(Duration::from_secs(5))
        .foreign_keys(false)
        .disable_statement_logging()
}

fn writer_options(database: &Path) -> SqliteConnectOptions {
    common_options(database)
        .create_if_missing(true)
        .page_size(4096)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", "-16384")
        .pragma("temp_store", "MEMORY")
        .pragma("wal_autocheckpoint", "4000")
        .pragma("journal_size_limit", "33554432")
}

/// Readers set no `auto_vacuum`: it would be a write, and they may not.
fn reader_options(database: &Path) -> SqliteConnectOptions {
    common_options(database).read_only(true).pragma("cache_size", "-8192")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        for (version, expected) in
            [("3.51.3", true), ("3.51.2", false), ("3.6.10", false), ("3.100", true), ("", false)]
        {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }
}
