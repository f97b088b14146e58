//! Renaming sessions; calibrations.

use super::{
    super::{error::Failure, read, statements, values},
    Writer,
    heads::micros,
};
use crate::{
    model::Session,
    store::{UpdateSession, rules},
};

impl Writer {
    pub(super) async fn update(&mut self, update: UpdateSession) -> Result<Session, Failure> {
        let mut head = self.head(&update.session).await?;
        let (_, mut session) = read::get_session(&mut self.conn, &update.session).await?;
        let name = update.display_name.unwrap_or_else(|| session.display_name.clone());
        let labels = update.labels.unwrap_or_else(|| session.labels.clone());
        if name != session.display_name || labels != session.labels {
            session.display_name = name;
            session.labels = labels;
            session.revision = head.next_revision();
            session.update_time = rules::kept(update.at);
            let statement = sqlx::query(statements::UPDATE_SESSION)
                .bind(head.key)
                .bind(session.revision.0)
                .bind(micros(update.at))
                .bind(session.display_name.as_str())
                .bind(values::json(&session.labels));
            self.write(statement).await?;
        }
        self.heads.put(&update.session, head);
        Ok(session)
    }

    pub(super) async fn calibrate(
        &mut self,
        namespace: String,
        model: String,
        factor: f64,
    ) -> Result<(), Failure> {
        let statement =
            sqlx::query(statements::SET_CALIBRATION).bind(namespace).bind(model).bind(factor);
        self.write(statement).await
    }
}
